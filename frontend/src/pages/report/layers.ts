// The quantities that the tile map can show, taken from a report: all memory, each category, each part of a step's cycles.
import type { Report } from '~/api/report';

export interface Layer {
  id: string;
  unit: 'bytes' | 'cycles';
  /** Key of its name among the words; undefined for a category we have no word for. */
  word: string;
  values: number[];
}

const CYCLES = ['compute', 'exchange', 'sync', 'idle'] as const;

export function layersOf(report: Report): Layer[] {
  const { by_tile: byTile, categories, tiles } = report.memory;
  const all = new Array<number>(tiles).fill(0);
  for (const name of categories) byTile[name]?.forEach((bytes, tile) => (all[tile] = (all[tile] ?? 0) + bytes));
  return [
    { id: 'all', unit: 'bytes', word: 'report.show.all', values: all },
    ...categories.map((name): Layer => ({
      id: `memory.${name}`,
      unit: 'bytes',
      word: `category.${name}`,
      values: byTile[name] ?? [],
    })),
    ...CYCLES.map((name): Layer => ({
      id: `cycles.${name}`,
      unit: 'cycles',
      word: `cycles.${name}`,
      values: report.time.by_tile[name],
    })),
  ];
}
