// All rows of a paged list, for a choice that must offer each of them; a table asks for its pages one by one instead.
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useEffect } from 'react';

/** Undefined until the last page has come, so that a row is never taken as missing while it is still on its way. */
export function useAllPages<Row>(list: UseInfiniteQueryResult<InfiniteData<{ results: Row[] }>>): Row[] | undefined {
  const { data, error, hasNextPage, isFetching, fetchNextPage } = list;
  useEffect(() => {
    if (hasNextPage && !isFetching && !error) void fetchNextPage();
    // A quick page comes and goes within one rendering: then `data` alone tells that there is another to ask for.
  }, [data, hasNextPage, isFetching, error, fetchNextPage]);
  return data && !hasNextPage ? data.pages.flatMap((page) => page.results) : undefined;
}
