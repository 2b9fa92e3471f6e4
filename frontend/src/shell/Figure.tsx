// A number with its name above it, and what it rests on below.
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Figure.module.css';

export function Figures({ children }: { children: ReactNode }) {
  return <dl className={classes.row}>{children}</dl>;
}

interface Props {
  label: string;
  value: ReactNode;
  note?: ReactNode;
  tone?: 'bad' | 'good';
}

export function Figure({ label, value, note, tone }: Props) {
  return (
    <div className={classes.figure}>
      <dt className={classes.label}>{label}</dt>
      <dd className={classes.value} data-tone={tone}>
        {value}
        {note && (
          <Text span display="block" size="xs" c="dimmed" fw={400}>
            {note}
          </Text>
        )}
      </dd>
    </div>
  );
}
