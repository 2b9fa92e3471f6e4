// How answers are cached and when a question is asked again: never for a refusal, twice for a broken connection.
import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem';

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        refetchOnWindowFocus: true,
        retry: (failures, error) =>
          failures < 2 && error instanceof Problem && (error.status === 0 || error.status >= 502),
        retryDelay: (attempt) => 500 * 2 ** attempt * (0.75 + Math.random() / 2),
      },
      mutations: { retry: false },
    },
  });
}
