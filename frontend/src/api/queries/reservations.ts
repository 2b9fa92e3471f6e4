// Slices of pods: who holds what when, and the reader's own reservations.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { get, post, remove } from '../http';
import { cursorOf } from '../pages';
import type { Occupancy, Page, Reservation } from '../types';

export const occupancyQuery = (pod: string, from: string, to: string) =>
  queryOptions({
    queryKey: ['occupancy', pod, from, to],
    queryFn: async ({ signal }) => {
      const answer = await get<Occupancy[] | Page<Occupancy>>(`pods/${pod}/occupancy`, { from, to }, signal);
      return Array.isArray(answer) ? answer : answer.results;
    },
    refetchInterval: 60_000,
  });

/** The reader's reservations which end after `from`. */
export const reservationsQuery = (project: string, from: string) =>
  infiniteQueryOptions({
    queryKey: ['reservations', project, from],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      get<Page<Reservation>>('reservations', { project_id: project, from, cursor: pageParam }, signal),
    getNextPageParam: cursorOf,
  });

export interface ReservationRequest {
  pod_id: string;
  ipus: number;
  starts_at: string;
  ends_at: string;
  zone: string;
  project_id?: string;
}

export const reserve = (request: ReservationRequest, key: string) => post<Reservation>('reservations', request, key);
export const cancelReservation = (id: string) => remove(`reservations/${id}`);
