import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { show } from '~/testing/render';
import { useAllPages } from './useAllPages';

const PAGES = [['newest'], ['older'], ['oldest']];

const paged = infiniteQueryOptions({
  queryKey: ['paged'],
  initialPageParam: 0,
  queryFn: ({ pageParam }) => Promise.resolve({ results: PAGES[pageParam] ?? [], page: pageParam }),
  getNextPageParam: ({ page }) => (page + 1 < PAGES.length ? page + 1 : undefined),
});

function Choice() {
  const rows = useAllPages(useInfiniteQuery(paged));
  return <p>{rows ? rows.join(', ') : 'waiting'}</p>;
}

it('offers the rows of the last page too, and none before all have come', async () => {
  show(<Choice />);
  expect(screen.getByText('waiting')).toBeDefined();
  expect(await screen.findByText('newest, older, oldest')).toBeDefined();
});
