// Hands the tab's socket to components: useLive() for its state, useTopic() to follow a hint topic.
import { createContext, useContext, useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from 'react';
import { LiveSocket, socketUrl, type LiveState } from './socket';
import { openWithTicket } from './ticket';

const Context = createContext<LiveSocket | null>(null);

export function LiveProvider({ children, socket }: { children: ReactNode; socket?: LiveSocket }) {
  const [live] = useState(() => socket ?? new LiveSocket(socketUrl(), { open: openWithTicket, random: Math.random }));
  useEffect(() => {
    const wake = () => {
      if (document.visibilityState === 'visible') live.wake();
    };
    window.addEventListener('online', wake);
    document.addEventListener('visibilitychange', wake);
    return () => {
      window.removeEventListener('online', wake);
      document.removeEventListener('visibilitychange', wake);
    };
  }, [live]);
  return <Context.Provider value={live}>{children}</Context.Provider>;
}

export function useLiveSocket(): LiveSocket {
  const live = useContext(Context);
  if (!live) throw new Error('LiveProvider is missing above this component');
  return live;
}

export function useLiveState(): LiveState {
  const live = useLiveSocket();
  return useSyncExternalStore(
    (changed) => live.watch(changed),
    () => live.state,
  );
}

/** Calls `onChanged` for each hint of a topic (null when hints may have been missed). A null topic follows nothing. */
export function useTopic(topic: string | null, onChanged: (what: Record<string, unknown> | null) => void): void {
  const live = useLiveSocket();
  const latest = useRef(onChanged);
  useEffect(() => {
    latest.current = onChanged;
  });
  useEffect(() => {
    if (topic === null) return;
    return live.subscribe(topic, { onChanged: (what) => latest.current(what) });
  }, [live, topic]);
}
