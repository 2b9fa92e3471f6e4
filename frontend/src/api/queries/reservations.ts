// Slices of pods: who holds what when, and the reader's own reservations.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { answer, api, idempotent } from '../http';
import { cursorOf, FIRST_PAGE } from '../pages';
import type { components } from '../schema';

export const occupancyQuery = (pod: string, from: string, to: string) =>
  queryOptions({
    queryKey: ['occupancy', pod, from, to],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/v1/pods/{pod_id}/occupancy', { signal, params: { path: { pod_id: pod }, query: { from, to } } }),
      ),
    refetchInterval: 60_000,
  });

/** The reader's reservations which end after `from`. Their state changes with the clock, hence the interval. */
export const reservationsQuery = (project: string, from: string) =>
  infiniteQueryOptions({
    queryKey: ['reservations', project, from],
    initialPageParam: FIRST_PAGE,
    queryFn: ({ pageParam: cursor, signal }) =>
      answer(api.GET('/api/v1/reservations', { signal, params: { query: { project_id: project, from, cursor } } })),
    getNextPageParam: cursorOf,
    refetchInterval: 30_000,
  });

export type ReservationRequest = components['schemas']['CreateReservationRequest'];

export const reserve = (body: ReservationRequest, key: string) =>
  answer(api.POST('/api/v1/reservations', { body, headers: idempotent(key) }));
export const cancelReservation = (id: string) =>
  answer(api.DELETE('/api/v1/reservations/{reservation_id}', { params: { path: { reservation_id: id } } }));
