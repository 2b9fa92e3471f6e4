// Where credits came from and went to.
import { Button, Table, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { ledgerQuery } from '~/api/queries/organizations';
import type { LedgerEntry, Organization } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { EmptyState } from '~/shell/EmptyState';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { WideTable } from '~/shell/WideTable';

export function Ledger({ organization }: { organization: Organization }) {
  const { t } = useWords();
  const list = useInfiniteQuery(ledgerQuery(organization.id));
  const rows = list.data?.pages.flatMap((page) => page.results);
  return (
    <section>
      <Title order={2} mb="sm">
        {t('ledger.title')}
      </Title>
      <ProblemNotice problem={list.error} />
      {!rows && !list.error && <Waiting />}
      {rows?.length === 0 && <EmptyState text={t('ledger.empty')} />}
      {rows && rows.length > 0 && <LedgerTable rows={rows} />}
      {list.hasNextPage && (
        <Button variant="default" mt="sm" onClick={() => void list.fetchNextPage()}>
          {t('common.more')}
        </Button>
      )}
    </section>
  );
}

function LedgerTable({ rows }: { rows: LedgerEntry[] }) {
  const { t, maybe } = useWords();
  const format = useFormat();
  const signed = (value: number) =>
    value > 0 ? `+${format.credits(value)}` : value < 0 ? format.credits(value) : t('common.none');
  return (
    <WideTable minWidth={560} label={t('ledger.title')}>
      <Table className="number">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('ledger.when')}</Table.Th>
            <Table.Th>{t('ledger.kind')}</Table.Th>
            <Table.Th ta="right">{t('ledger.change')}</Table.Th>
            <Table.Th ta="right">{t('ledger.held')}</Table.Th>
            <Table.Th>{t('ledger.note')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((entry) => (
            <Table.Tr key={entry.id}>
              <Table.Td>{format.dateTime(entry.created_at)}</Table.Td>
              <Table.Td>{maybe(`ledger.kind.${entry.kind}`) ?? entry.kind}</Table.Td>
              <Table.Td ta="right">{signed(entry.microcredits)}</Table.Td>
              <Table.Td ta="right">{signed(entry.held_microcredits)}</Table.Td>
              <Table.Td lang="en">{entry.note}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}
