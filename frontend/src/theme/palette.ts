// The colours of Podium. Contrast of text on its ground is tested in palette.test.ts; no component names a hex value.
import type { MantineColorsTuple } from '@mantine/core';

/** Deep pine green: actions, links, the reader's own things. */
export const pine: MantineColorsTuple = [
  '#e9f6f2',
  '#d2ece4',
  '#a8dacb',
  '#79c4ae',
  '#4eac93',
  '#2b917a',
  '#177766',
  '#0e6257',
  '#0b4f48',
  '#083d38',
];

/** Warm brass: what is simulated, and what needs a look. */
export const brass: MantineColorsTuple = [
  '#fdf6e3',
  '#f9eac2',
  '#f4db94',
  '#eec966',
  '#e3b23f',
  '#c79325',
  '#9c6f16',
  '#7d580f',
  '#64460b',
  '#4a3407',
];

/** Slate blue: published figures. */
export const slate: MantineColorsTuple = [
  '#eef2f9',
  '#dbe3f1',
  '#bac9e4',
  '#94abd4',
  '#6f8dc2',
  '#5273ae',
  '#3f5d96',
  '#334c7c',
  '#283c63',
  '#1d2c49',
];

/** Brick: errors, refusals, what does not fit. */
export const brick: MantineColorsTuple = [
  '#fdefec',
  '#f9dad3',
  '#f2b5a8',
  '#e98d7a',
  '#de6750',
  '#cb4a32',
  '#ad3822',
  '#8d2c1a',
  '#702214',
  '#52180d',
];

/** Neutral inks with a little green in them; Mantine's name for the dark theme's greys. */
export const dark: MantineColorsTuple = [
  '#dbe4e1',
  '#b6c3bf',
  '#93a39e',
  '#70817c',
  '#42524e',
  '#2f3d3a',
  '#202b29',
  '#182120',
  '#101817',
  '#0a100f',
];

export const gray: MantineColorsTuple = [
  '#faf9f5',
  '#f2f1eb',
  '#e6e5dd',
  '#d5d5cb',
  '#b7b9ae',
  '#8b9087',
  '#646b64',
  '#4a524d',
  '#333b37',
  '#1b2320',
];

/** Memory categories and parts of time, in a fixed order; neighbours differ in lightness as well as in hue. */
export const SERIES = {
  light: [
    '#0e6257',
    '#e3b23f',
    '#5273ae',
    '#cb4a32',
    '#79c4ae',
    '#7a5195',
    '#94abd4',
    '#9c6f16',
    '#b0567f',
    '#646b64',
    '#2f8fa8',
    '#c9a38f',
  ],
  dark: [
    '#4eac93',
    '#f4db94',
    '#94abd4',
    '#e98d7a',
    '#a8dacb',
    '#b695cf',
    '#5273ae',
    '#c79325',
    '#d98fb0',
    '#93a39e',
    '#6cc3d8',
    '#8a6b5c',
  ],
} as const;

/** Ramp of one quantity from least to most, for the tile map. */
export const RAMP = {
  light: ['#f2f1eb', '#d2ece4', '#79c4ae', '#2b917a', '#0b4f48'],
  dark: ['#182120', '#123a35', '#177766', '#4eac93', '#d2ece4'],
} as const;
export const OVER = { light: '#cb4a32', dark: '#de6750' } as const;
