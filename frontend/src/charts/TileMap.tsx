// A picture of one quantity over the tiles of an IPU, drawn on a canvas: hover, click or arrow keys choose a tile.
// What a tile holds in detail is told by the page, which also has the same numbers as a table.
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState, type KeyboardEvent, type MouseEvent } from 'react';
import { OVER, RAMP } from '~/theme/palette';
import { cellAt, columnsFor, colourScale, moved, rowsFor } from './tiles';
import classes from './TileMap.module.css';

interface Props {
  values: number[];
  /** The colour scale ends here; above it a tile is drawn as over. */
  limit: number;
  least: number;
  selected: number;
  onSelect: (tile: number) => void;
  label: string;
}

export function TileMap({ values, limit, least, selected, onSelect, label }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useComputedColorScheme('light');
  const [width, setWidth] = useState(0);
  const columns = columnsFor(width);
  const rows = rowsFor(values.length, columns);
  useEffect(() => {
    const box = canvas.current?.parentElement;
    if (!box) return;
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    watcher.observe(box);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    const pen = canvas.current?.getContext('2d');
    if (!canvas.current || !pen || width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const cell = width / columns;
    canvas.current.width = Math.round(width * ratio);
    canvas.current.height = Math.round(cell * rows * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colour = colourScale(RAMP[scheme], OVER[scheme], least, limit);
    values.forEach((value, tile) => {
      pen.fillStyle = colour(value);
      pen.fillRect((tile % columns) * cell + 0.5, Math.floor(tile / columns) * cell + 0.5, cell - 1, cell - 1);
    });
    pen.strokeStyle = scheme === 'dark' ? '#ffffff' : '#1b2320';
    pen.lineWidth = 2;
    pen.strokeRect((selected % columns) * cell, Math.floor(selected / columns) * cell, cell, cell);
  }, [values, limit, least, selected, width, columns, rows, scheme]);

  const under = (event: MouseEvent<HTMLCanvasElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    return cellAt(event.clientX - box.left, event.clientY - box.top, box.width, columns, values.length);
  };
  const choose = (event: MouseEvent<HTMLCanvasElement>) => {
    const tile = under(event);
    if (tile !== null) onSelect(tile);
  };
  const keys = (event: KeyboardEvent<HTMLCanvasElement>) => {
    const tile = moved(selected, event.key, columns, values.length);
    if (tile === null) return;
    event.preventDefault();
    onSelect(tile);
  };
  return (
    <div className={classes.box}>
      <canvas
        ref={canvas}
        role="application"
        tabIndex={0}
        aria-label={label}
        className={classes.canvas}
        style={{ aspectRatio: `${columns} / ${rows}` }}
        onMouseMove={choose}
        onClick={choose}
        onKeyDown={keys}
      />
    </div>
  );
}
