// A table that scrolls sideways by itself on narrow screens; the keyboard can scroll it too.
import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  minWidth: number;
  /** What the table shows, for those who reach it with the keyboard. */
  label: string;
  maxHeight?: number;
  children: ReactNode;
}

export function WideTable({ minWidth, label, maxHeight, children }: Props) {
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={minWidth}
      mah={maxHeight}
      style={maxHeight ? { overflowY: 'auto' } : undefined}
      role="region"
      aria-label={label}
      tabIndex={0}
    >
      {children}
    </Table.ScrollContainer>
  );
}
