// Ornament: as many squares as a GC200 has tiles, in slow waves. It shows no data, so readers of the page skip it.
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { RAMP } from '~/theme/palette';
import classes from './Landing.module.css';

const COLUMNS = 46;
const ROWS = 32;
const CELL = 10;
const FRAME_MS = 90;

export function ChipPicture() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    const pen = canvas.current?.getContext('2d');
    if (!pen) return;
    const ramp = RAMP[scheme].slice(1);
    draw(pen, ramp, 0);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    let frame = 0;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') draw(pen, ramp, (frame += 1));
    }, FRAME_MS);
    return () => clearInterval(timer);
  }, [scheme]);
  return (
    <canvas ref={canvas} className={classes.chip} width={COLUMNS * CELL} height={ROWS * CELL} aria-hidden="true" />
  );
}

function draw(pen: CanvasRenderingContext2D, ramp: string[], frame: number): void {
  pen.clearRect(0, 0, COLUMNS * CELL, ROWS * CELL);
  for (let row = 0; row < ROWS; row += 1) {
    for (let column = 0; column < COLUMNS; column += 1) {
      const grain = ((row * 31 + column * 17) % 13) / 13;
      const wave = Math.sin(column / 5 + frame / 14) + Math.cos(row / 4 - frame / 19 + column / 9);
      const level = Math.min(
        ramp.length - 1,
        Math.max(0, Math.floor(((wave + 2) / 4 + grain * 0.25) * ramp.length * 0.8)),
      );
      pen.fillStyle = ramp[level] ?? '#000';
      pen.fillRect(column * CELL + 1, row * CELL + 1, CELL - 2, CELL - 2);
    }
  }
}
