// The one WebSocket of a tab: topics with cursors, gap detection, heartbeat, back-off with jitter. What events mean is
// not its business (see jobStream.ts), nor is React (see LiveProvider.tsx).

import type { StreamEvent } from '~/api/types';

export type LiveState = 'connecting' | 'live' | 'offline';

export interface Listener {
  /** Events of a job topic. May repeat some after a reconnection; never skips any. */
  onEvents?: (events: StreamEvent[]) => void;
  /** A hint: something changed, ask again by HTTP. `what` is null after a reconnection, when hints may have been lost. */
  onChanged?: (what: Record<string, unknown> | null) => void;
  onRefused?: (code: string) => void;
  /** True while the server is known to have events that have not come yet. */
  onBehind?: (behind: boolean) => void;
}

interface Topic {
  cursor: number;
  gapless: boolean;
  behind: boolean;
  askedAt: number;
  listeners: Set<Listener>;
}

/** What is used of a WebSocket. */
export type Line = Pick<WebSocket, 'readyState' | 'send' | 'close'> & {
  onopen: (() => void) | null;
  onmessage: ((message: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
};

interface Environment {
  open: (url: string) => Line;
  random: () => number;
}

const FIRST_DELAY = 500;
const LONGEST_DELAY = 30_000;
/** The server's heartbeat comes each 10 s; after this long without a frame the connection is taken for dead. */
const SILENCE = 25_000;
const PING_EVERY = 12_000;
/** Kept open a little after the last follower left: the next page often follows something too. */
const LINGER = 10_000;
/** Asking again for the same gap earlier than this would only repeat the question. */
const ASK_AGAIN = 2_000;

export class LiveSocket {
  private socket: Line | null = null;
  private readonly topics = new Map<string, Topic>();
  private readonly watchers = new Set<(state: LiveState) => void>();
  private failures = 0;
  private greetedBefore = false;
  private lastFrame = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private pulse: ReturnType<typeof setInterval> | undefined;
  private parting: ReturnType<typeof setTimeout> | undefined;
  state: LiveState = 'offline';

  constructor(
    private readonly url: string,
    private readonly environment: Environment,
  ) {}

  /** Follows a topic from after `cursor`. Returns the way to stop. The socket is open only while somebody follows. */
  subscribe(name: string, listener: Listener, cursor = 0): () => void {
    clearTimeout(this.parting);
    let topic = this.topics.get(name);
    if (topic) {
      topic.cursor = Math.min(topic.cursor, cursor);
      topic.listeners.add(listener);
    } else {
      topic = {
        cursor,
        gapless: listener.onEvents !== undefined,
        behind: false,
        askedAt: 0,
        listeners: new Set([listener]),
      };
      this.topics.set(name, topic);
    }
    if (this.socket) this.ask(name, topic);
    else this.connect();
    return () => this.unsubscribe(name, listener);
  }

  watch(watcher: (state: LiveState) => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  /** Reconnects at once: the network came back, the tab woke up, or another person signed in. */
  restart(): void {
    clearTimeout(this.retry);
    this.drop();
    this.failures = 0;
    if (this.topics.size > 0) this.connect();
  }

  wake(): void {
    if (this.state === 'offline' && this.topics.size > 0) this.restart();
  }

  private unsubscribe(name: string, listener: Listener): void {
    const topic = this.topics.get(name);
    if (!topic?.listeners.delete(listener) || topic.listeners.size > 0) return;
    this.topics.delete(name);
    this.send({ type: 'unsubscribe', topic: name });
    if (this.topics.size === 0) this.parting = setTimeout(() => this.part(), LINGER);
  }

  private part(): void {
    clearTimeout(this.retry);
    this.drop();
    this.become('offline');
  }

  private connect(): void {
    this.become('connecting');
    const socket = this.environment.open(this.url);
    this.socket = socket;
    this.lastFrame = Date.now();
    socket.onopen = () => {
      for (const [name, topic] of this.topics) this.ask(name, topic);
      this.pulse = setInterval(() => this.beat(), PING_EVERY);
    };
    socket.onmessage = (message) => {
      if (socket === this.socket) this.receive(String(message.data));
    };
    socket.onclose = () => {
      if (socket === this.socket) this.lost();
    };
  }

  private lost(): void {
    this.drop();
    this.become('offline');
    if (this.topics.size === 0) return;
    const longest = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** this.failures);
    this.failures += 1;
    this.retry = setTimeout(() => this.connect(), longest * (0.5 + this.environment.random() / 2));
  }

  private drop(): void {
    clearInterval(this.pulse);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  private beat(): void {
    if (Date.now() - this.lastFrame > SILENCE) this.lost();
    else this.send({ type: 'ping' });
  }

  private receive(text: string): void {
    this.lastFrame = Date.now();
    const frame = JSON.parse(text) as { type: string; topic?: string; [field: string]: unknown };
    if (frame.type === 'hello') this.greeted();
    if (frame.type === 'heartbeat') this.compare(frame.topics as Record<string, number>);
    const topic = frame.topic === undefined ? undefined : this.topics.get(frame.topic);
    if (!topic || frame.topic === undefined) return;
    if (frame.type === 'events')
      this.deliver(frame.topic, topic, frame.events as StreamEvent[], Number(frame.last_seq));
    if (frame.type === 'changed') topic.listeners.forEach((l) => l.onChanged?.(frame.what as Record<string, unknown>));
    if (frame.type === 'refused') topic.listeners.forEach((l) => l.onRefused?.(String(frame.code)));
  }

  private greeted(): void {
    const again = this.greetedBefore;
    this.greetedBefore = true;
    this.failures = 0;
    this.become('live');
    if (again) this.topics.forEach((topic) => topic.listeners.forEach((l) => l.onChanged?.(null)));
  }

  private deliver(name: string, topic: Topic, events: StreamEvent[], lastSeq: number): void {
    const first = events[0];
    const final = events[events.length - 1];
    if (first && final) {
      if (first.seq > topic.cursor + 1) {
        this.fallBehind(name, topic);
        return;
      }
      topic.cursor = Math.max(topic.cursor, final.seq);
      topic.listeners.forEach((l) => l.onEvents?.(events));
    }
    this.setBehind(topic, topic.cursor < lastSeq);
  }

  private compare(lastSeqs: Record<string, number> = {}): void {
    for (const [name, lastSeq] of Object.entries(lastSeqs)) {
      const topic = this.topics.get(name);
      if (topic?.gapless && topic.cursor < lastSeq) this.fallBehind(name, topic);
    }
  }

  private fallBehind(name: string, topic: Topic): void {
    this.setBehind(topic, true);
    if (Date.now() - topic.askedAt >= ASK_AGAIN) this.ask(name, topic);
  }

  private setBehind(topic: Topic, behind: boolean): void {
    if (topic.behind === behind) return;
    topic.behind = behind;
    topic.listeners.forEach((l) => l.onBehind?.(behind));
  }

  private ask(name: string, topic: Topic): void {
    topic.askedAt = Date.now();
    this.send(
      topic.gapless ? { type: 'subscribe', topic: name, after: topic.cursor } : { type: 'subscribe', topic: name },
    );
  }

  private send(frame: Record<string, unknown>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  private become(state: LiveState): void {
    if (state === this.state) return;
    this.state = state;
    this.watchers.forEach((watcher) => watcher(state));
  }
}

/** `/ws/v1` on the page's own host. */
export function socketUrl(location: Pick<Location, 'protocol' | 'host'> = window.location): string {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws/v1`;
}
