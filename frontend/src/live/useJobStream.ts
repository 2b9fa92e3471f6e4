// A job's stream for a component: follows the topic over the tab's socket and, where sockets do not get through, asks
// for the missing events by HTTP.
import { useEffect, useState } from 'react';
import { jobEvents } from '~/api/queries/jobs';
import { emptyStream, isOver, reduceEvents, type JobStream } from './jobStream';
import { useLiveSocket, useLiveState } from './LiveProvider';

export type Follow = 'live' | 'catching_up' | 'polling' | 'offline' | 'ended' | 'refused';

const POLL_EVERY = 3000;
const PAGE = 500;
/** A short break is bridged by the socket itself. */
const POLL_AFTER = 5000;

interface Followed {
  stream: JobStream;
  behind: boolean;
  refused: boolean;
  reached: boolean;
}

/** Use with a `key` of the job's id: a component follows one job for its whole life. */
export function useJobStream(id: string): { stream: JobStream; follow: Follow } {
  const live = useLiveSocket();
  const socketState = useLiveState();
  const [followed, setFollowed] = useState<Followed>({
    stream: emptyStream,
    behind: true,
    refused: false,
    reached: true,
  });
  useEffect(
    () =>
      live.subscribe(`job:${id}`, {
        onEvents: (events) => setFollowed((f) => ({ ...f, stream: reduceEvents(f.stream, events), behind: false })),
        onBehind: (behind) => setFollowed((f) => ({ ...f, behind })),
        onRefused: () => setFollowed((f) => ({ ...f, refused: true })),
      }),
    [live, id],
  );
  const over = followed.stream.state !== null && isOver(followed.stream.state);
  const polling = usePolling(id, socketState !== 'live' && !over && !followed.refused, setFollowed);
  return { stream: followed.stream, follow: followOf(followed, over, socketState === 'live', polling) };
}

function followOf(followed: Followed, over: boolean, live: boolean, polling: boolean): Follow {
  if (followed.refused) return 'refused';
  if (over) return 'ended';
  if (live) return followed.behind ? 'catching_up' : 'live';
  return polling && followed.reached ? 'polling' : 'offline';
}

type Update = (change: (followed: Followed) => Followed) => void;

function usePolling(id: string, wanted: boolean, setFollowed: Update): boolean {
  const [polling, setPolling] = useState(false);
  useEffect(() => {
    if (!wanted) return;
    let stopped = false;
    let timer: ReturnType<typeof setTimeout>;
    let after = 0;
    const ask = async () => {
      const answer = await jobEvents(id, after, PAGE).catch(() => null);
      if (stopped) return;
      setPolling(true);
      setFollowed((f) => {
        const stream = answer ? reduceEvents(f.stream, answer.results) : f.stream;
        after = stream.seq;
        return { ...f, stream, reached: answer !== null };
      });
      timer = setTimeout(() => void ask(), answer && answer.results.length === PAGE ? 0 : POLL_EVERY);
    };
    timer = setTimeout(() => void ask(), POLL_AFTER);
    return () => {
      stopped = true;
      clearTimeout(timer);
      setPolling(false);
    };
  }, [id, wanted, setFollowed]);
  return polling;
}
