// The current minute, moving on by itself.
import { useEffect, useState } from 'react';
import { thisMinute } from './slots';

const LOOK_EVERY = 5000;

export function useNow(): Date {
  const [now, setNow] = useState(() => thisMinute(new Date()));
  useEffect(() => {
    const look = () => {
      const minute = thisMinute(new Date());
      setNow((before) => (before.getTime() === minute.getTime() ? before : minute));
    };
    const timer = setInterval(look, LOOK_EVERY);
    return () => clearInterval(timer);
  }, []);
  return now;
}
