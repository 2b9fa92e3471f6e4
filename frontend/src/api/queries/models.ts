// The reader's models. Uploading is in ../upload.ts.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { answer, api } from '../http';
import { cursorOf, FIRST_PAGE } from '../pages';

export const modelsQuery = (project: string) =>
  infiniteQueryOptions({
    queryKey: ['models', project],
    initialPageParam: FIRST_PAGE,
    queryFn: ({ pageParam: cursor, signal }) =>
      answer(api.GET('/api/v1/models', { signal, params: { query: { project_id: project, cursor } } })),
    getNextPageParam: cursorOf,
  });

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: ['model', id],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/v1/models/{model_id}', { signal, params: { path: { model_id: id } } })),
    // The hint over the socket comes first; this is for when it is lost.
    refetchInterval: ({ state }) => (state.data?.state === 'inspecting' ? 3000 : false),
  });

export const deleteModel = (id: string) =>
  answer(api.DELETE('/api/v1/models/{model_id}', { params: { path: { model_id: id } } }));
