import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StreamEvent } from '~/api/types';
import { LiveSocket, socketUrl, type Line } from './socket';

class FakeSocket {
  static all: FakeSocket[] = [];
  readyState = 0;
  sent: Record<string, unknown>[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  constructor() {
    FakeSocket.all.push(this);
  }
  send(text: string) {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }
  close() {
    this.readyState = 3;
  }
  open() {
    this.readyState = 1;
    this.onopen?.();
    this.frame({ type: 'hello' });
  }
  frame(frame: Record<string, unknown>) {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  die() {
    this.readyState = 3;
    this.onclose?.();
  }
}

const make = () => new LiveSocket('ws://x/ws/v1', { open: () => new FakeSocket() as unknown as Line, random: () => 1 });
const newest = () => FakeSocket.all[FakeSocket.all.length - 1]!;
const events = (...seqs: number[]): StreamEvent[] =>
  seqs.map((seq) => ({ seq, kind: 'log', attempt: 1, time: '', data: {} }));
const frame = (...seqs: number[]) => ({
  type: 'events',
  topic: 'job:1',
  events: events(...seqs),
  last_seq: Math.max(...seqs),
});

beforeEach(() => {
  FakeSocket.all = [];
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

describe('LiveSocket', () => {
  it('opens one socket for all topics and closes it with the last', () => {
    const live = make();
    const stopA = live.subscribe('job:1', { onEvents: () => undefined });
    const stopB = live.subscribe('board:x', { onChanged: () => undefined });
    newest().open();
    expect(FakeSocket.all).toHaveLength(1);
    expect(newest().sent).toEqual([
      { type: 'subscribe', topic: 'job:1', after: 0 },
      { type: 'subscribe', topic: 'board:x' },
    ]);
    stopA();
    expect(newest().sent.at(-1)).toEqual({ type: 'unsubscribe', topic: 'job:1' });
    stopB();
    vi.advanceTimersByTime(9_000);
    expect(newest().readyState).toBe(1);
    vi.advanceTimersByTime(2_000);
    expect(newest().readyState).toBe(3);
    expect(live.state).toBe('offline');
  });

  it('stays open from one page to the next', () => {
    const live = make();
    live.subscribe('board:x', { onChanged: () => undefined })();
    live.subscribe('job:1', { onEvents: () => undefined });
    newest().open();
    vi.advanceTimersByTime(11_000);
    expect(FakeSocket.all).toHaveLength(1);
    expect(newest().sent).toContainEqual({ type: 'subscribe', topic: 'job:1', after: 0 });
    expect(live.state).toBe('live');
  });

  it('resumes from its cursor after a lost connection', () => {
    const live = make();
    const got: number[] = [];
    live.subscribe('job:1', { onEvents: (list) => got.push(...list.map((e) => e.seq)) });
    newest().open();
    newest().frame(frame(1, 2, 3));
    newest().die();
    expect(live.state).toBe('offline');
    vi.advanceTimersByTime(500);
    newest().open();
    expect(newest().sent[0]).toEqual({ type: 'subscribe', topic: 'job:1', after: 3 });
    newest().frame(frame(4));
    expect(got).toEqual([1, 2, 3, 4]);
    expect(live.state).toBe('live');
  });

  it('does not hand on events after a gap, but asks for them again', () => {
    const live = make();
    const got: number[] = [];
    const behind: boolean[] = [];
    live.subscribe('job:1', {
      onEvents: (list) => got.push(...list.map((e) => e.seq)),
      onBehind: (b) => behind.push(b),
    });
    newest().open();
    newest().frame(frame(1));
    vi.advanceTimersByTime(3000);
    newest().frame(frame(4));
    expect(got).toEqual([1]);
    expect(newest().sent.at(-1)).toEqual({ type: 'subscribe', topic: 'job:1', after: 1 });
    newest().frame(frame(2, 3, 4));
    expect(got).toEqual([1, 2, 3, 4]);
    expect(behind).toEqual([true, false]);
  });

  it('finds a silent loss by the heartbeat', () => {
    const live = make();
    live.subscribe('job:1', { onEvents: () => undefined });
    newest().open();
    newest().frame(frame(1, 2));
    vi.advanceTimersByTime(3000);
    newest().frame({ type: 'heartbeat', topics: { 'job:1': 5 } });
    expect(newest().sent.at(-1)).toEqual({ type: 'subscribe', topic: 'job:1', after: 2 });
  });

  it('takes a connection without frames for dead', () => {
    const live = make();
    live.subscribe('job:1', { onEvents: () => undefined });
    newest().open();
    vi.advanceTimersByTime(36_000);
    expect(FakeSocket.all[0]!.readyState).toBe(3);
    vi.advanceTimersByTime(1000);
    expect(FakeSocket.all).toHaveLength(2);
  });

  it('waits longer after each failure, up to half a minute', () => {
    const live = make();
    live.subscribe('job:1', { onEvents: () => undefined });
    const waits: number[] = [];
    for (let i = 0; i < 9; i += 1) {
      newest().die();
      const before = FakeSocket.all.length;
      let waited = 0;
      while (FakeSocket.all.length === before) {
        vi.advanceTimersByTime(500);
        waited += 500;
      }
      waits.push(waited);
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
  });

  it('tells followers of hints to ask again after a reconnection', () => {
    const live = make();
    const hints: unknown[] = [];
    live.subscribe('board:x', { onChanged: (what) => hints.push(what) });
    newest().open();
    newest().frame({ type: 'changed', topic: 'board:x', what: { id: 1 } });
    newest().die();
    vi.advanceTimersByTime(500);
    newest().open();
    expect(hints).toEqual([{ id: 1 }, null]);
  });

  it('passes a refusal on', () => {
    const live = make();
    const codes: string[] = [];
    live.subscribe('job:1', { onEvents: () => undefined, onRefused: (code) => codes.push(code) });
    newest().open();
    newest().frame({ type: 'refused', topic: 'job:1', code: 'not_found' });
    expect(codes).toEqual(['not_found']);
  });
});

describe('socketUrl', () => {
  it('follows the scheme of the page', () => {
    expect(socketUrl({ protocol: 'https:', host: 'a:1' })).toBe('wss://a:1/ws/v1');
    expect(socketUrl({ protocol: 'http:', host: 'a:1' })).toBe('ws://a:1/ws/v1');
  });
});
