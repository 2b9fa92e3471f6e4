// The start: for a stranger what Podium is, for a signed-in person what is going on.
import { useSession } from '~/api/queries/session';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { Dashboard } from './Dashboard';
import { Landing } from './Landing';

export function HomePage() {
  const { data: session, error } = useSession();
  if (error) return <ProblemNotice problem={error} />;
  if (!session) return <Waiting lines={6} />;
  return session.user ? <Dashboard session={session} /> : <Landing />;
}
