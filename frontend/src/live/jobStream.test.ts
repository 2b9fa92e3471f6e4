import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '~/api/types';
import { emptyStream, reduceEvents, type JobStream } from './jobStream';

let clock = 0;
const event = (seq: number, kind: string, data: Record<string, unknown>, attempt = 1): StreamEvent => ({
  seq,
  kind: kind as StreamEvent['kind'],
  attempt,
  time: `2026-11-30T12:00:${String((clock += 1) % 60).padStart(2, '0')}Z`,
  data,
});
const point = (step: number, loss: number) => ({
  step,
  loss,
  simulated_seconds: step,
  wall_seconds: step,
  samples_per_second: 9,
});

/** A job whose first worker dies after step 4 and whose second goes on from step 2. */
function story(): StreamEvent[] {
  return [
    event(1, 'state', { state: 'queued' }),
    event(2, 'state', { state: 'running' }),
    event(3, 'attempt_started', { attempt: 1, resume_step: 0, worker: 'a' }),
    event(4, 'phase', { phase: 'plan', fraction: 0.5 }),
    event(5, 'log', {
      lines: [
        { level: 'info', message: 'one' },
        { level: 'warning', message: 'two' },
      ],
    }),
    event(6, 'report', { digest: 'd1' }),
    event(7, 'metrics', { points: [point(1, 1), point(2, 0.9)] }),
    event(8, 'metrics', { points: [point(3, 0.8), point(4, 0.7)] }),
    event(9, 'progress', { done: 4, total: 6 }),
    event(10, 'attempt_started', { attempt: 2, resume_step: 2, worker: 'b' }, 2),
    event(11, 'metrics', { points: [point(3, 0.8), point(4, 0.7), point(5, 0.6), point(6, 0.5)] }, 2),
    event(12, 'log', { lines: [{ level: 'info', message: 'three' }] }, 2),
    event(13, 'something_newer', { a: 1 }),
    event(14, 'ended', { code: 'done', message: '', fault: 'none', params: {} }, 2),
    event(15, 'state', { state: 'succeeded' }, 2),
  ];
}

/** A small generator with a seed, so that a failure can be repeated. */
function seeded(seed: number) {
  let state = seed;
  return () => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
}

describe('reduceEvents', () => {
  it('folds a whole story', () => {
    const stream = reduceEvents(emptyStream, story());
    expect(stream.seq).toBe(15);
    expect(stream.state).toBe('succeeded');
    expect(stream.states.map((s) => s.state)).toEqual(['queued', 'running', 'succeeded']);
    expect(stream.log.map((line) => [line.n, line.message])).toEqual([
      [0, 'one'],
      [1, 'two'],
      [2, 'three'],
    ]);
    expect(stream.end?.fault).toBe('none');
    expect(stream.reportDigest).toBe('d1');
  });

  it('drops points that a later attempt makes again', () => {
    const stream = reduceEvents(emptyStream, story());
    expect(stream.points.map((p) => p.step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(stream.attempts.map((a) => a.resumeStep)).toEqual([0, 2]);
  });

  it('gives the same state for any split, repetition and order', () => {
    const events = story();
    const whole = reduceEvents(emptyStream, events);
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = seeded(seed);
      const pile = [...events, ...events.filter(() => random() < 0.4)].sort(() => random() - 0.5);
      let stream: JobStream = emptyStream;
      while (pile.length > 0) stream = reduceEvents(stream, pile.splice(0, 1 + Math.floor(random() * 4)));
      expect(stream).toEqual(whole);
    }
  });

  it('shows nothing that follows a gap until the gap is filled', () => {
    const events = story();
    const gap = reduceEvents(emptyStream, [...events.slice(0, 6), ...events.slice(7)]);
    expect(gap.seq).toBe(6);
    expect(gap.points).toEqual([]);
    expect(reduceEvents(gap, [events[6]!])).toEqual(reduceEvents(emptyStream, events));
  });

  it('returns the very same object when nothing is new', () => {
    const stream = reduceEvents(emptyStream, story());
    expect(reduceEvents(stream, story().slice(3, 9))).toBe(stream);
  });
});
