// The reader's reservations from now on: what they hold, launching on them, giving them back.
import { Badge, Button, Group, Table, Text, Title } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { cancelReservation, reservationsQuery } from '~/api/queries/reservations';
import type { Reservation } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { useTopic } from '~/live/LiveProvider';
import { EmptyState } from '~/shell/EmptyState';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { LinkButton } from '~/shell/links';
import { WideTable } from '~/shell/WideTable';

const COLOUR = { booked: 'slate', active: 'pine', ended: 'gray', cancelled: 'gray' } as const;

export function Slices({ project }: { project: string }) {
  const { t } = useWords();
  const client = useQueryClient();
  const [now] = useState(() => new Date().toISOString());
  const list = useInfiniteQuery(reservationsQuery(project, now));
  useTopic(`project:${project}`, (what) => {
    if (what === null || what.kind === 'reservation')
      void client.invalidateQueries({ queryKey: ['reservations', project] });
  });
  const rows = list.data?.pages.flatMap((page) => page.results);
  return (
    <section>
      <Title order={2} mb="sm">
        {t('slices.title')}
      </Title>
      <ProblemNotice problem={list.error} />
      {!rows && !list.error && <Waiting />}
      {rows?.length === 0 && <EmptyState text={t('slices.empty')} />}
      {rows && rows.length > 0 && <SliceTable rows={rows} />}
      {list.hasNextPage && (
        <Button variant="default" mt="sm" onClick={() => void list.fetchNextPage()}>
          {t('common.more')}
        </Button>
      )}
    </section>
  );
}

function SliceTable({ rows }: { rows: Reservation[] }) {
  const { t } = useWords();
  return (
    <WideTable minWidth={680} label={t('slices.title')}>
      <Table className="number">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('slices.pod')}</Table.Th>
            <Table.Th>{t('pods.table.ipus')}</Table.Th>
            <Table.Th>{t('slices.when')}</Table.Th>
            <Table.Th>{t('common.state')}</Table.Th>
            <Table.Th ta="right">{t('slices.price')}</Table.Th>
            <Table.Th>{t('common.actions')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((slice) => (
            <SliceRow key={slice.id} slice={slice} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function SliceRow({ slice }: { slice: Reservation }) {
  const { t } = useWords();
  const format = useFormat();
  const client = useQueryClient();
  const giving = useMutation({
    mutationFn: () => cancelReservation(slice.id),
    onSettled: () => {
      for (const key of ['reservations', 'occupancy', 'session']) void client.invalidateQueries({ queryKey: [key] });
    },
  });
  const open = slice.state === 'booked' || slice.state === 'active';
  const ask = () =>
    modals.openConfirmModal({
      title: t('slices.cancel.title'),
      children: <Text size="sm">{t('slices.cancel.text')}</Text>,
      labels: { confirm: t('slices.cancel'), cancel: t('slices.keep') },
      confirmProps: { color: 'brick' },
      onConfirm: () => giving.mutate(),
    });
  return (
    <Table.Tr>
      <Table.Td>{slice.pod.name}</Table.Td>
      <Table.Td>{t('pods.table.range', { first: slice.ipu_start, last: slice.ipu_start + slice.ipus - 1 })}</Table.Td>
      <Table.Td>
        {format.dateTime(slice.starts_at, slice.zone)} – {format.dateTime(slice.ends_at, slice.zone)}
      </Table.Td>
      <Table.Td>
        <Badge variant="light" color={COLOUR[slice.state]}>
          {t(`slices.state.${slice.state}`)}
        </Badge>
      </Table.Td>
      <Table.Td ta="right">{t('common.credits', { value: format.credits(slice.price_microcredits) })}</Table.Td>
      <Table.Td>
        {open && (
          <Group gap={6} wrap="nowrap">
            <LinkButton to="/launch" search={{ reservation: slice.id }} size="compact-sm" variant="light">
              {t('slices.launch')}
            </LinkButton>
            <Button size="compact-sm" variant="subtle" color="brick" onClick={ask} loading={giving.isPending}>
              {t('slices.cancel')}
            </Button>
          </Group>
        )}
        <ProblemNotice problem={giving.error} />
      </Table.Td>
    </Table.Tr>
  );
}
