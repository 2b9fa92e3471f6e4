// Who is signed in and where they may act. Also sets the CSRF cookie, so it is the first question of every page.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { logOut } from '../auth';
import { answer, api } from '../http';
import type { Organization, Project } from '../types';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => answer(api.GET('/api/v1/session', { signal })),
  staleTime: 60_000,
});

export const useSession = () => useQuery(sessionQuery);

/** The organization and project that new things go to: the personal one, else the first. */
export function useWorkplace(): { organization: Organization; project: Project } | null {
  const { data } = useSession();
  const organization = data?.organizations.find((o) => o.is_personal) ?? data?.organizations[0];
  const project = organization?.projects[0];
  return organization && project ? { organization, project } : null;
}

/** Called after signing in or out: nothing of the former person may stay in the cache. */
export function useSessionChanged() {
  const client = useQueryClient();
  return useCallback(async () => {
    const session = await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
    client.removeQueries({ predicate: (query) => query.queryKey[0] !== 'session' });
    return session;
  }, [client]);
}

export function useLogOut() {
  const changed = useSessionChanged();
  return useCallback(async () => {
    await logOut();
    await changed();
  }, [changed]);
}

export const outboxQuery = queryOptions({
  queryKey: ['outbox'],
  queryFn: ({ signal }) => answer(api.GET('/api/v1/outbox', { signal })),
  refetchInterval: 3000,
  retry: false,
});
