import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { systemsQuery } from '~/api/queries/catalogue';
import { show } from '~/testing/render';
import { SystemsTable } from './SystemsTable';

function system(name: string, reservable: boolean) {
  return {
    id: name,
    name,
    chip: 'Bow',
    ipus: 4,
    machines: 1,
    tiles_per_ipu: 1472,
    bytes_per_tile: 638_976,
    clock_hz: 1.85e9,
    allowed_sizes: [1, 2, 4],
    link_domains: 1,
    microcredits_per_ipu_hour: 1_300_000,
    reservable,
    sources: [],
  };
}

describe('the systems of the front page', () => {
  it('have a price where they can be had, and none where they can only be simulated', () => {
    const client = new QueryClient();
    client.setQueryData(systemsQuery.queryKey, [system('Bow-2000', true), system('Bow Pod1024', false)]);
    show(
      <QueryClientProvider client={client}>
        <SystemsTable />
      </QueryClientProvider>,
    );
    const row = (name: string) => within(screen.getByRole('row', { name: new RegExp(name) }));
    expect(row('Bow-2000').getByText('1.3')).toBeTruthy();
    expect(row('Bow Pod1024').getByText('simulated only')).toBeTruthy();
    expect(row('Bow Pod1024').queryByText('1.3')).toBeNull();
  });
});
