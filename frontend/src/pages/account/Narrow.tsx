// A column for short forms.
import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';

export function Narrow({ children }: { children: ReactNode }) {
  return (
    <Stack maw={430} mx="auto" pt={{ base: 8, sm: 40 }} gap="md">
      {children}
    </Stack>
  );
}
