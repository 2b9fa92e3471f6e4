// A job's events folded into what its page shows. Pure: the same events in any split, order or number give the same
// state, so a reload, a second tab or a broken connection loses nothing and shows nothing twice.
import type { JobEnd, JobState, StreamEvent } from '~/api/types';

export interface LogLine {
  /** Place in the whole log, for a stable key. */
  n: number;
  attempt: number;
  level: string;
  message: string;
  time: string;
}

export interface MetricPoint {
  step: number;
  loss: number | null;
  simulated_seconds: number;
  wall_seconds: number;
  samples_per_second: number;
}

export interface Attempt {
  number: number;
  resumeStep: number;
  worker: string;
  time: string;
}

export interface JobStream {
  /** The last event applied; everything up to it is in the state. */
  seq: number;
  /** Events that came before those they follow. */
  ahead: ReadonlyMap<number, StreamEvent>;
  state: JobState | null;
  /** When each state began. */
  states: readonly { state: JobState; time: string }[];
  phase: { name: string; fraction: number } | null;
  progress: { done: number; total: number } | null;
  attempts: readonly Attempt[];
  log: readonly LogLine[];
  points: readonly MetricPoint[];
  reportDigest: string | null;
  end: JobEnd | null;
}

export const emptyStream: JobStream = {
  seq: 0,
  ahead: new Map(),
  state: null,
  states: [],
  phase: null,
  progress: null,
  attempts: [],
  log: [],
  points: [],
  reportDigest: null,
  end: null,
};

export function reduceEvents(stream: JobStream, events: readonly StreamEvent[]): JobStream {
  const waiting = new Map(stream.ahead);
  for (const event of events) if (event.seq > stream.seq) waiting.set(event.seq, event);
  const ready: StreamEvent[] = [];
  let seq = stream.seq;
  for (let next = waiting.get(seq + 1); next; next = waiting.get(seq + 1)) {
    seq = next.seq;
    waiting.delete(seq);
    ready.push(next);
  }
  if (ready.length === 0 && waiting.size === stream.ahead.size) return stream;
  return ready.reduce(apply, { ...stream, ahead: waiting });
}

const TERMINAL: readonly JobState[] = ['succeeded', 'failed', 'cancelled', 'timed_out'];
export const isOver = (state: JobState): boolean => TERMINAL.includes(state);

function apply(stream: JobStream, event: StreamEvent): JobStream {
  const after = { ...stream, seq: event.seq };
  const { data } = event;
  switch (event.kind) {
    case 'state':
      return enter(after, data.state as JobState, event.time);
    case 'attempt_started':
      return startAttempt(after, event);
    case 'phase':
      return { ...after, phase: { name: String(data.phase), fraction: Number(data.fraction) } };
    case 'progress':
      return { ...after, progress: { done: Number(data.done), total: Number(data.total) } };
    case 'log':
      return { ...after, log: stream.log.concat(logLines(event, stream.log.length)) };
    case 'metrics':
      return { ...after, points: stream.points.concat(data.points as MetricPoint[]) };
    case 'report':
      return { ...after, reportDigest: String(data.digest) };
    case 'ended':
      return { ...after, end: data as unknown as JobEnd };
    default:
      return after; // a kind of a newer server: nothing to show for it here
  }
}

function enter(stream: JobStream, state: JobState, time: string): JobStream {
  return { ...stream, state, states: stream.states.concat({ state, time }) };
}

/** An attempt that resumes repeats the steps after its checkpoint: the points of the former one there are superseded. */
function startAttempt(stream: JobStream, event: StreamEvent): JobStream {
  const resumeStep = Number(event.data.resume_step ?? 0);
  const attempt = { number: event.attempt, resumeStep, worker: String(event.data.worker ?? ''), time: event.time };
  return {
    ...stream,
    attempts: stream.attempts.concat(attempt),
    points: stream.points.filter((point) => point.step <= resumeStep),
    phase: null,
    progress: null,
  };
}

function logLines(event: StreamEvent, start: number): LogLine[] {
  const lines = event.data.lines as { level?: string; message?: string; time?: string }[];
  return lines.map((line, i) => ({
    n: start + i,
    attempt: event.attempt,
    level: line.level ?? 'info',
    message: line.message ?? '',
    time: line.time ?? event.time,
  }));
}
