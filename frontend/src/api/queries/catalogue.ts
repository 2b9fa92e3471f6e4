// What the cloud offers to everybody, signed in or not: systems, built-in models and datasets, suites, boards.
import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '../http';
import type { Dataset } from '../types';

const HOUR = 3_600_000;

export const systemsQuery = queryOptions({
  queryKey: ['systems'],
  queryFn: ({ signal }) => answer(api.GET('/api/v1/systems', { signal })),
  staleTime: HOUR,
});
export const podsQuery = queryOptions({
  queryKey: ['pods'],
  queryFn: ({ signal }) => answer(api.GET('/api/v1/pods', { signal })),
  staleTime: HOUR,
});
export const zooQuery = queryOptions({
  queryKey: ['zoo'],
  queryFn: ({ signal }) => answer(api.GET('/api/v1/zoo', { signal })),
  staleTime: HOUR,
});
export const datasetsQuery = queryOptions({
  queryKey: ['datasets'],
  queryFn: async ({ signal }) => (await answer(api.GET('/api/v1/datasets', { signal }))) as Dataset[],
  staleTime: HOUR,
});
export const suitesQuery = queryOptions({
  queryKey: ['suites'],
  queryFn: ({ signal }) => answer(api.GET('/api/v1/suites', { signal })),
});
export const boardQuery = (slug: string) =>
  queryOptions({
    queryKey: ['board', slug],
    queryFn: ({ signal }) => answer(api.GET('/api/v1/suites/{slug}/board', { signal, params: { path: { slug } } })),
  });
