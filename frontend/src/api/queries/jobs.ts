// The reader's jobs and what is made for them: estimates before, report and artefacts after. Events: live/useJobStream.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { get, post } from '../http';
import { cursorOf } from '../pages';
import type { Report } from '../report';
import type { Artefact, EstimateRow, Job, JobState, Page, RunConfig } from '../types';

export const jobsQuery = (project: string, state?: JobState) =>
  infiniteQueryOptions({
    queryKey: ['jobs', project, state ?? 'all'],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => get<Page<Job>>('jobs', { project_id: project, state, cursor: pageParam, limit: 30 }, signal),
    getNextPageParam: cursorOf,
  });

export const jobQuery = (id: string) =>
  queryOptions({ queryKey: ['job', id], queryFn: ({ signal }) => get<Job>(`jobs/${id}`, undefined, signal) });

export const reportQuery = (id: string, digest: string | null) =>
  queryOptions({
    queryKey: ['report', id, digest],
    queryFn: ({ signal }) => get<Report>(`jobs/${id}/report`, undefined, signal),
    staleTime: Infinity,
  });

export const artefactsQuery = (id: string) =>
  queryOptions({
    queryKey: ['artefacts', id],
    queryFn: async ({ signal }) => {
      const answer = await get<Artefact[] | Page<Artefact>>(`jobs/${id}/artefacts`, undefined, signal);
      return Array.isArray(answer) ? answer : answer.results;
    },
  });

export interface EstimateRequest {
  model: string;
  config: RunConfig;
  reservation_id?: string;
  project_id?: string;
}

/** Answers at once when it is known, else asks until it is; the key is the whole question, so nothing is asked twice. */
export const estimateQuery = (request: EstimateRequest | null) =>
  queryOptions({
    queryKey: ['estimate', request],
    enabled: request !== null,
    queryFn: async ({ signal }) => {
      let row = await post<EstimateRow>('estimates', request);
      for (let wait = 250; row.state === 'pending'; wait = Math.min(2000, wait * 1.4)) {
        await new Promise((resolve) => setTimeout(resolve, wait));
        signal.throwIfAborted();
        row = await get<EstimateRow>(`estimates/${row.id}`, undefined, signal);
      }
      return row;
    },
    staleTime: 60_000,
  });

export interface JobRequest extends EstimateRequest {
  name?: string;
  suite?: string;
}

export const submitJob = (request: JobRequest, key: string) => post<Job>('jobs', request, key);
export const cancelJob = (id: string) => post<Job>(`jobs/${id}/cancel`, {});
export const rerunJob = (id: string, key: string) => post<Job>(`jobs/${id}/rerun`, {}, key);
