// The start: for a stranger what Podium is, for a signed-in person what is going on. Each is fetched only when shown.
import { lazy, Suspense } from 'react';
import { useSession } from '~/api/queries/session';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';

const Dashboard = lazy(() => import('./Dashboard').then((module) => ({ default: module.Dashboard })));
const Landing = lazy(() => import('./Landing').then((module) => ({ default: module.Landing })));

export function HomePage() {
  const { data: session, error } = useSession();
  if (error && !session) return <ProblemNotice problem={error} />;
  const waiting = <Waiting lines={6} />;
  if (!session) return waiting;
  return <Suspense fallback={waiting}>{session.user ? <Dashboard session={session} /> : <Landing />}</Suspense>;
}
