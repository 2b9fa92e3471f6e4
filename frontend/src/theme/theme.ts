// Mantine's theme for Podium: shapes, type and the colours of palette.ts. Layout styles live in CSS modules.
import { createTheme, type CSSVariablesResolver } from '@mantine/core';
import { brass, brick, dark, gray, pine, slate } from './palette';

const SANS =
  '"Inter", "Segoe UI Variable", "Segoe UI", system-ui, -apple-system, "Helvetica Neue", "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "WenQuanYi Zen Hei", sans-serif';
const MONO =
  '"JetBrains Mono", ui-monospace, "SF Mono", "Cascadia Code", "DejaVu Sans Mono", Menlo, Consolas, monospace';

export const theme = createTheme({
  colors: { pine, brass, slate, brick, dark, gray, red: brick },
  primaryColor: 'pine',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  fontFamily: SANS,
  fontFamilyMonospace: MONO,
  headings: {
    fontFamily: SANS,
    fontWeight: '650',
    sizes: { h1: { fontSize: '1.9rem', lineHeight: '1.2' }, h2: { fontSize: '1.3rem' }, h3: { fontSize: '1.05rem' } },
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  components: {
    Anchor: { defaultProps: { underline: 'hover' } },
    Badge: { defaultProps: { radius: 'sm', tt: 'none', fw: 600, miw: 'max-content' } },
    Modal: {
      defaultProps: { centered: true },
      styles: {
        header: { background: 'var(--surface)' },
        content: { background: 'var(--surface)' },
        title: { fontWeight: 650 },
      },
    },
    Paper: { defaultProps: { bg: 'var(--surface)' } },
    Table: { defaultProps: { verticalSpacing: 'xs' } },
    Tooltip: { defaultProps: { withArrow: true, events: { hover: true, focus: true, touch: true } } },
  },
});

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-body': gray[0],
    '--mantine-color-text': gray[9],
    '--mantine-color-dimmed': '#5a625c',
    '--mantine-color-anchor': pine[7],
    '--mantine-color-error': brick[6],
    '--mantine-color-placeholder': '#646b64',
    '--surface': '#ffffff',
    '--surface-sunk': gray[1],
    '--hairline': gray[2],
    '--grid-line': gray[2],
  },
  dark: {
    '--mantine-color-body': dark[8],
    '--mantine-color-text': dark[0],
    '--mantine-color-dimmed': '#9fb0ab',
    '--mantine-color-anchor': pine[3],
    '--mantine-color-error': brick[3],
    '--mantine-color-placeholder': '#93a39e',
    '--surface': dark[7],
    '--surface-sunk': dark[8],
    '--hairline': dark[5],
    '--grid-line': dark[6],
  },
});
