// What stands where a list has nothing yet: a sentence and the next step.
import { Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './EmptyState.module.css';

export function EmptyState({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <Paper className={classes.box} p="xl" bg="transparent">
      <Stack align="center" gap="sm">
        <svg width="64" height="26" viewBox="0 0 64 26" aria-hidden="true" className={classes.tiles}>
          {Array.from({ length: 18 }, (_, i) => (
            <rect
              key={i}
              x={(i % 6) * 11}
              y={Math.floor(i / 6) * 9}
              width="8"
              height="6"
              rx="1.5"
              opacity={0.25 + ((i * 7) % 5) * 0.15}
            />
          ))}
        </svg>
        <Text c="dimmed" ta="center" maw={480}>
          {text}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}
