import { describe, expect, it } from 'vitest';
import { brass, brick, dark, gray, pine, slate } from './palette';
import { variables, theme } from './theme';
import type { MantineTheme } from '@mantine/core';

const AA = 4.5;

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const made = variables(theme as MantineTheme) as unknown as Record<'light' | 'dark', Record<string, string>>;
const GROUNDS = {
  light: [made.light['--mantine-color-body'], made.light['--surface'], made.light['--surface-sunk']],
  dark: [made.dark['--mantine-color-body'], made.dark['--surface'], made.dark['--surface-sunk']],
};
const INKS = ['--mantine-color-text', '--mantine-color-dimmed', '--mantine-color-anchor', '--mantine-color-error'];

describe('colours of text', () => {
  for (const scheme of ['light', 'dark'] as const) {
    it(`can be read on every ground (${scheme})`, () => {
      for (const ink of INKS) {
        for (const ground of GROUNDS[scheme]) {
          const ratio = contrast(made[scheme][ink] ?? '', ground ?? '');
          expect([ink, ground, ratio >= AA]).toEqual([ink, ground, true]);
        }
      }
    });
  }

  it('can be read in white on filled buttons and chips of both schemes', () => {
    for (const fill of [pine[7], pine[6], brick[6]])
      expect([fill, contrast('#ffffff', fill) >= AA]).toEqual([fill, true]);
  });

  it('tells neighbours of a ramp apart', () => {
    for (const tuple of [pine, brass, slate, brick, gray, dark]) {
      tuple.slice(1).forEach((colour, i) => expect(luminance(colour)).toBeLessThan(luminance(tuple[i] ?? '')));
    }
  });
});
