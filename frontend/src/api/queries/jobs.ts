// The reader's jobs and what is made for them: estimates before, report and artefacts after. Events: live/useJobStream.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { answer, api, idempotent } from '../http';
import { cursorOf, FIRST_PAGE } from '../pages';
import type { Report } from '../report';
import type { EstimateRow, Job, JobState, Page, RunConfig } from '../types';

const PAGE = 30;
const jobPath = (id: string) => ({ path: { job_id: id } });

export const jobsQuery = (project: string, state?: JobState) =>
  infiniteQueryOptions({
    queryKey: ['jobs', project, state ?? 'all'],
    initialPageParam: FIRST_PAGE,
    queryFn: async ({ pageParam: cursor, signal }): Promise<Page<Job>> => {
      const query = { project_id: project, state, cursor, limit: PAGE };
      const page = await answer(api.GET('/api/v1/jobs', { signal, params: { query } }));
      return { ...page, results: page.results.map(asJob) };
    },
    getNextPageParam: cursorOf,
  });

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id],
    queryFn: async ({ signal }) =>
      asJob(await answer(api.GET('/api/v1/jobs/{job_id}', { signal, params: jobPath(id) }))),
  });

/** Why a job waits; asked again while it does. */
export const whyQuery = (id: string, waitsFor: string) =>
  queryOptions({
    queryKey: ['why', id, waitsFor],
    queryFn: ({ signal }) => answer(api.GET('/api/v1/jobs/{job_id}/why', { signal, params: jobPath(id) })),
    refetchInterval: 5000,
  });

export const reportQuery = (id: string, digest: string | null) =>
  queryOptions({
    queryKey: ['report', id, digest],
    queryFn: async ({ signal }) =>
      (await answer(api.GET('/api/v1/jobs/{job_id}/report', { signal, params: jobPath(id) }))) as unknown as Report,
    staleTime: Infinity,
  });

export const artefactsQuery = (id: string) =>
  queryOptions({
    queryKey: ['artefacts', id],
    queryFn: ({ signal }) => answer(api.GET('/api/v1/jobs/{job_id}/artefacts', { signal, params: jobPath(id) })),
  });

export const jobEvents = (id: string, after: number, limit: number) =>
  answer(api.GET('/api/v1/jobs/{job_id}/events', { params: { ...jobPath(id), query: { after, limit } } }));

export interface EstimateRequest {
  model: string;
  config: RunConfig;
  reservation_id?: string;
  project_id?: string;
}

/** The settings travel as an open object: the portal hands them to the engine, which knows them. */
const asBody = <T extends EstimateRequest>({ config, ...rest }: T) => ({
  ...rest,
  config: config as unknown as Record<string, unknown>,
});
const asJob = (row: Omit<Job, 'config'> & { config: unknown }): Job => row as Job;

/** Answers at once when it is known, else asks until it is; the key is the whole question, so nothing is asked twice. */
export const estimateQuery = (request: EstimateRequest | null) =>
  queryOptions({
    queryKey: ['estimate', request],
    enabled: request !== null,
    queryFn: async ({ signal }): Promise<EstimateRow> => {
      if (!request) throw new Error('a disabled query was run');
      let row = await answer(api.POST('/api/v1/estimates', { signal, body: asBody(request) }));
      for (let wait = 250; row.state === 'pending'; wait = Math.min(2000, wait * 1.4)) {
        await new Promise((resolve) => setTimeout(resolve, wait));
        signal.throwIfAborted();
        row = await answer(
          api.GET('/api/v1/estimates/{estimate_id}', { signal, params: { path: { estimate_id: row.id } } }),
        );
      }
      return row as EstimateRow;
    },
    staleTime: 60_000,
  });

export interface JobRequest extends EstimateRequest {
  name?: string;
  suite?: string;
}

export const submitJob = async (request: JobRequest, key: string) =>
  asJob(await answer(api.POST('/api/v1/jobs', { body: asBody(request), headers: idempotent(key) })));
export const cancelJob = (id: string) => answer(api.POST('/api/v1/jobs/{job_id}/cancel', { params: jobPath(id) }));
export const rerunJob = (id: string, key: string) =>
  answer(api.POST('/api/v1/jobs/{job_id}/rerun', { params: jobPath(id), headers: idempotent(key) }));
