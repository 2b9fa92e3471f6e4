import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Providers } from '~/testing/render';
import { LiveSocket, type Line } from './socket';
import { useJobStream } from './useJobStream';

class FakeSocket {
  readyState = 0;
  sent: unknown[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.readyState = 3;
  }
  open() {
    this.readyState = 1;
    this.onopen?.();
    this.frame({ type: 'hello' });
  }
  frame(frame: object) {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
}

const event = (seq: number, state: string) => ({
  seq,
  kind: 'state',
  attempt: 1,
  time: '2026-11-30T12:00:00Z',
  data: { state },
});

function Probe() {
  const { stream, follow } = useJobStream('j1');
  return (
    <p data-testid="probe">
      {stream.seq} {stream.state} {follow}
    </p>
  );
}

const text = () => screen.getByTestId('probe').textContent;
let made: FakeSocket[] = [];

function start() {
  made = [];
  const live = new LiveSocket('ws://x', {
    open: () => {
      made.push(new FakeSocket());
      return made[made.length - 1] as unknown as Line;
    },
    random: () => 1,
  });
  render(
    <Providers socket={live}>
      <Probe />
    </Providers>,
  );
}

const asked: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  asked.length = 0;
  vi.stubGlobal('fetch', async (request: Request) => {
    asked.push(request.url);
    const after = Number(new URL(request.url).searchParams.get('after'));
    const results = [event(1, 'queued'), event(2, 'running')].filter((e) => e.seq > after);
    return new Response(JSON.stringify({ results, last_seq: 2 }), { headers: { 'Content-Type': 'application/json' } });
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('follows a job over the socket alone, and says when it is complete', async () => {
  start();
  act(() => made[0]?.open());
  expect(text()).toContain('catching_up');
  act(() =>
    made[0]?.frame({ type: 'events', topic: 'job:j1', events: [event(1, 'queued'), event(2, 'running')], last_seq: 2 }),
  );
  expect(text()).toBe('2 running live');
  act(() => made[0]?.frame({ type: 'events', topic: 'job:j1', events: [event(3, 'succeeded')], last_seq: 3 }));
  expect(text()).toBe('3 succeeded ended');
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect(asked).toEqual([]);
});

it('polls where no socket gets through', async () => {
  start();
  expect(text()).toContain('offline');
  await act(() => vi.advanceTimersByTimeAsync(5_100));
  expect(text()).toBe('2 running polling');
  await act(() => vi.advanceTimersByTimeAsync(3_100));
  expect(new URL(asked[1] ?? '').searchParams.get('after')).toBe('2');
});

it('shows a refusal', () => {
  start();
  act(() => made[0]?.open());
  act(() => made[0]?.frame({ type: 'refused', topic: 'job:j1', code: 'not_found' }));
  expect(text()).toContain('refused');
});
