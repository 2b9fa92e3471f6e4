// Arithmetic of the calendar: windows of time, where a block stands in them, and whether a slice is free. Pure.
// The database has the last word on clashes; this only spares the reader a refused request.
import type { Occupancy } from '~/api/types';
import { instantOf, localOf } from '~/format/times';

export type View = 'day' | 'week';
const HOUR = 3_600_000;

export interface Window {
  from: Date;
  to: Date;
}

/** The day, or the seven days, that begin at midnight of `zone` on the day of `at`. */
export function windowOf(at: Date, view: View, zone: string): Window {
  const midnight = `${localOf(at, zone).slice(0, 10)}T00:00`;
  return { from: instantOf(midnight, zone), to: instantOf(addDays(midnight, view === 'day' ? 1 : 7), zone) };
}

/** The same wall-clock time some days later; a day with a change of the clock is not 24 hours long. */
export function addDays(local: string, days: number): string {
  return new Date(Date.parse(`${local}:00Z`) + days * 24 * HOUR).toISOString().slice(0, 16);
}

export function move(at: Date, view: View, steps: number, zone: string): Date {
  return instantOf(addDays(localOf(at, zone), steps * (view === 'day' ? 1 : 7)), zone);
}

/** Marks of the time axis: each third hour of a day, each day of a week. */
export function ticks(window: Window, view: View, zone: string): Date[] {
  if (view === 'week') {
    const first = localOf(window.from, zone);
    return Array.from({ length: 7 }, (_, i) => instantOf(addDays(first, i), zone));
  }
  const marks: Date[] = [];
  for (let at = window.from.getTime(); at < window.to.getTime(); at += 3 * HOUR) marks.push(new Date(at));
  return marks;
}

/** Left edge and width as shares of the window, cut off at its ends; null when outside. */
export function spanIn(window: Window, startsAt: string, endsAt: string): { left: number; width: number } | null {
  const from = window.from.getTime();
  const length = window.to.getTime() - from;
  const left = Math.max(0, (Date.parse(startsAt) - from) / length);
  const right = Math.min(1, (Date.parse(endsAt) - from) / length);
  return right > left ? { left, width: right - left } : null;
}

export function overlapping(held: Occupancy[], start: Date, end: Date): Occupancy[] {
  return held.filter(
    (block) => Date.parse(block.starts_at) < end.getTime() && Date.parse(block.ends_at) > start.getTime(),
  );
}

/** The first aligned run of free IPUs, as a partition needs it; null when there is none. */
export function freeStart(held: Occupancy[], podIpus: number, size: number, start: Date, end: Date): number | null {
  const busy = overlapping(held, start, end);
  for (let first = 0; first + size <= podIpus; first += size) {
    if (!busy.some((block) => block.ipu_start < first + size && block.ipu_start + block.ipus > first)) return first;
  }
  return null;
}

/** A slice usually begins at once; the portal takes a start that is a few minutes old. */
export function thisMinute(now: Date): Date {
  return new Date(Math.floor(now.getTime() / 60_000) * 60_000);
}

/** The quarter of an hour that a click at an instant means; one in the past means now. */
export function quarterAt(instant: Date, now: Date): Date {
  const quarter = Math.floor(instant.getTime() / (HOUR / 4)) * (HOUR / 4);
  return new Date(Math.max(quarter, now.getTime()));
}
