import { describe, expect, it } from 'vitest';
import { cellAt, colourScale, columnsFor, moved, rowsFor, spreadOf } from './tiles';

describe('tile map', () => {
  it('fills whole rows with the tiles of a GC200', () => {
    for (const width of [360, 1200]) expect(1472 % columnsFor(width)).toBe(0);
    expect(rowsFor(1472, 64)).toBe(23);
  });

  it('finds every tile under its own cell', () => {
    for (let tile = 0; tile < 1472; tile += 1) {
      expect(cellAt((tile % 64) * 10 + 5, Math.floor(tile / 64) * 10 + 5, 640, 64, 1472)).toBe(tile);
    }
    expect(cellAt(5, 235, 640, 64, 1472)).toBeNull();
  });

  it('moves by keys and stays inside', () => {
    expect(moved(100, 'ArrowDown', 64, 1472)).toBe(164);
    expect(moved(10, 'ArrowUp', 64, 1472)).toBe(10);
    expect(moved(10, 'End', 64, 1472)).toBe(1471);
    expect(moved(10, 'a', 64, 1472)).toBeNull();
  });

  it('colours from least to most, and above it apart', () => {
    const colour = colourScale(['#000000', '#ffffff'], '#ff0000', 10, 20);
    expect(colour(10)).toBe('rgb(0,0,0)');
    expect(colour(15)).toBe('rgb(128,128,128)');
    expect(colour(20)).toBe('rgb(255,255,255)');
    expect(colour(21)).toBe('#ff0000');
  });

  it('sums up a row of tiles', () => {
    expect(spreadOf([1, 2, 6])).toEqual({ sum: 9, mean: 3, least: 1, most: 6 });
    expect(spreadOf([])).toEqual({ sum: 0, mean: 0, least: 0, most: 0 });
  });
});
