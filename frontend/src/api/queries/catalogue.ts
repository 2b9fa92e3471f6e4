// What the cloud offers to everybody, signed in or not: systems, built-in models and datasets, suites, boards.
import { queryOptions } from '@tanstack/react-query';
import { get } from '../http';
import type { Board, Dataset, Pod, Suite, System, ZooModel } from '../types';

const HOUR = 3_600_000;

export const systemsQuery = queryOptions({
  queryKey: ['systems'],
  queryFn: ({ signal }) => get<System[]>('systems', undefined, signal),
  staleTime: HOUR,
});
export const podsQuery = queryOptions({
  queryKey: ['pods'],
  queryFn: ({ signal }) => get<Pod[]>('pods', undefined, signal),
  staleTime: HOUR,
});
export const zooQuery = queryOptions({
  queryKey: ['zoo'],
  queryFn: ({ signal }) => get<ZooModel[]>('zoo', undefined, signal),
  staleTime: HOUR,
});
export const datasetsQuery = queryOptions({
  queryKey: ['datasets'],
  queryFn: ({ signal }) => get<Dataset[]>('datasets', undefined, signal),
  staleTime: HOUR,
});
export const suitesQuery = queryOptions({
  queryKey: ['suites'],
  queryFn: ({ signal }) => get<Suite[]>('suites', undefined, signal),
});
export const boardQuery = (slug: string) =>
  queryOptions({
    queryKey: ['board', slug],
    queryFn: ({ signal }) => get<Board>(`suites/${slug}/board`, undefined, signal),
  });
