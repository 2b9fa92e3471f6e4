// The reader's models. Uploading is in ../upload.ts.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { get, remove } from '../http';
import { cursorOf } from '../pages';
import type { Model, Page } from '../types';

export const modelsQuery = (project: string) =>
  infiniteQueryOptions({
    queryKey: ['models', project],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => get<Page<Model>>('models', { project_id: project, cursor: pageParam }, signal),
    getNextPageParam: cursorOf,
  });

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: ['model', id],
    queryFn: ({ signal }) => get<Model>(`models/${id}`, undefined, signal),
    // The hint over the socket comes first; this is for when it is lost.
    refetchInterval: ({ state }) => (state.data?.state === 'inspecting' ? 3000 : false),
  });

export const deleteModel = (id: string) => remove(`models/${id}`);
