import { describe, expect, it } from 'vitest';
import type { Occupancy } from '~/api/types';
import { freeStart, move, quarterAt, spanIn, thisMinute, ticks, windowOf } from './slots';

const held = (ipu_start: number, ipus: number, from: string, to: string): Occupancy => ({
  ipu_start,
  ipus,
  starts_at: `2026-11-30T${from}:00Z`,
  ends_at: `2026-11-30T${to}:00Z`,
  kind: 'reservation',
  mine: false,
  reservation_id: null,
  job_id: null,
});
const at = (time: string) => new Date(`2026-11-30T${time}:00Z`);

describe('freeStart', () => {
  const blocks = [held(0, 4, '10:00', '12:00'), held(6, 2, '11:00', '13:00')];

  it('finds the first aligned run', () => {
    expect(freeStart(blocks, 8, 2, at('10:00'), at('12:00'))).toBe(4);
    expect(freeStart(blocks, 8, 4, at('10:00'), at('11:00'))).toBe(4);
  });
  it('says so when there is none', () => {
    expect(freeStart(blocks, 8, 4, at('10:00'), at('12:00'))).toBeNull();
  });
  it('lets a slice begin at the instant another ends', () => {
    expect(freeStart(blocks, 8, 8, at('13:00'), at('14:00'))).toBe(0);
  });
});

describe('windowOf', () => {
  it('is a day of the zone, also when the clocks change', () => {
    const day = windowOf(new Date('2026-10-25T12:00:00Z'), 'day', 'Europe/Berlin');
    expect(day.from.toISOString()).toBe('2026-10-24T22:00:00.000Z');
    expect(day.to.toISOString()).toBe('2026-10-25T23:00:00.000Z');
  });
  it('moves by days of the zone', () => {
    expect(move(new Date('2026-10-24T10:00:00Z'), 'day', 1, 'Europe/Berlin').toISOString()).toBe(
      '2026-10-25T11:00:00.000Z',
    );
  });
  it('has seven marks a week and eight a day', () => {
    const now = at('12:00');
    expect(ticks(windowOf(now, 'week', 'UTC'), 'week', 'UTC')).toHaveLength(7);
    expect(ticks(windowOf(now, 'day', 'UTC'), 'day', 'UTC')).toHaveLength(8);
  });
});

describe('spanIn', () => {
  const window = { from: at('00:00'), to: new Date('2026-12-01T00:00:00Z') };
  it('gives shares, cut off at the ends', () => {
    expect(spanIn(window, '2026-11-30T06:00:00Z', '2026-11-30T12:00:00Z')).toEqual({ left: 0.25, width: 0.25 });
    expect(spanIn(window, '2026-11-29T06:00:00Z', '2026-11-30T12:00:00Z')).toEqual({ left: 0, width: 0.5 });
    expect(spanIn(window, '2026-12-01T06:00:00Z', '2026-12-01T12:00:00Z')).toBeNull();
  });
});

it('a slice begins at once', () => {
  expect(thisMinute(new Date('2026-11-30T10:07:41.500Z')).toISOString()).toBe('2026-11-30T10:07:00.000Z');
});

it('a click means a quarter of an hour, never one in the past', () => {
  expect(quarterAt(at('14:52'), at('10:07'))).toEqual(at('14:45'));
  expect(quarterAt(at('09:00'), at('10:07'))).toEqual(at('10:07'));
});
