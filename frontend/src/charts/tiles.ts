// Where tiles stand in the picture and which colour a value has. Pure.

const WIDE = 64;
const NARROW = 32;
const NARROW_BELOW = 420;

/** 64 columns make 23 full rows of a GC200's 1,472 tiles; on a narrow screen 32, so that a finger can hit one. */
export const columnsFor = (width: number): number => (width > 0 && width < NARROW_BELOW ? NARROW : WIDE);
export const rowsFor = (tiles: number, columns: number): number => Math.ceil(tiles / columns);

export function cellAt(x: number, y: number, width: number, columns: number, tiles: number): number | null {
  const cell = width / columns;
  const column = Math.floor(x / cell);
  const tile = Math.floor(y / cell) * columns + column;
  return column >= 0 && column < columns && tile >= 0 && tile < tiles ? tile : null;
}

/** The tile that a key leads to, or null when the key does not move. */
export function moved(tile: number, key: string, columns: number, tiles: number): number | null {
  const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  if (key === 'Home') return 0;
  if (key === 'End') return tiles - 1;
  const step = steps[key];
  if (step === undefined) return null;
  const next = tile + step;
  return next >= 0 && next < tiles ? next : tile;
}

type Rgb = [number, number, number];
const parse = (hex: string): Rgb => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;

/** A function from value to CSS colour along a ramp from `least` to `most`; above `most` it is the over colour. */
export function colourScale(
  ramp: readonly string[],
  over: string,
  least: number,
  most: number,
): (value: number) => string {
  const stops = ramp.map(parse);
  const last = stops.length - 1;
  return (value) => {
    if (value > most) return over;
    const share = most > least ? Math.min(1, Math.max(0, (value - least) / (most - least))) : 0;
    const low = Math.min(last - 1, Math.floor(share * last));
    const part = share * last - low;
    const a = stops[low] ?? [0, 0, 0];
    const b = stops[low + 1] ?? a;
    return `rgb(${a.map((from, i) => Math.round(from + ((b[i] ?? from) - from) * part)).join(',')})`;
  };
}

export interface Spread {
  sum: number;
  mean: number;
  least: number;
  most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  let sum = 0;
  let least = Infinity;
  let most = -Infinity;
  for (const value of values) {
    sum += value;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return values.length ? { sum, mean: sum / values.length, least, most } : { sum: 0, mean: 0, least: 0, most: 0 };
}
