// Simulated rows of a board, ranked. Rows that are new since the page was opened are marked for a while.
import { Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sessionQuery } from '~/api/queries/session';
import type { SimulatedRow } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { Label } from '~/shell/Label';
import { useSystemName } from '~/shell/useSystemName';
import { LinkAnchor } from '~/shell/links';
import { WideTable } from '~/shell/WideTable';
import { unitName } from './suiteWords';
import classes from './Boards.module.css';

const keyOf = (row: SimulatedRow) => `${row.organization_name}:${row.achieved_at}:${row.value}`;

export function SimulatedTable({ rows }: { rows: SimulatedRow[] }) {
  const { t } = useWords();
  const release = useQuery(sessionQuery).data?.engine_release;
  const [known] = useState(() => new Set(rows.map(keyOf)));
  return (
    <WideTable minWidth={860} label={t('board.simulated')}>
      <Table className="number" data-testid="simulated">
        <Table.Thead>
          <Table.Tr>
            <Table.Th ta="right">{t('board.rank')}</Table.Th>
            <Table.Th ta="right">{t('board.value')}</Table.Th>
            <Table.Th>{t('board.label')}</Table.Th>
            <Table.Th>{t('board.organization')}</Table.Th>
            <Table.Th>{t('board.system')}</Table.Th>
            <Table.Th>{t('board.model')}</Table.Th>
            <Table.Th ta="right">{t('board.batch')}</Table.Th>
            <Table.Th>{t('board.precision')}</Table.Th>
            <Table.Th>{t('board.release')}</Table.Th>
            <Table.Th>{t('board.when')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Row
              key={keyOf(row)}
              row={row}
              fresh={!known.has(keyOf(row))}
              old={release !== undefined && row.engine_release !== release}
            />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function Row({ row, fresh, old }: { row: SimulatedRow; fresh: boolean; old: boolean }) {
  const words = useWords();
  const { t } = words;
  const format = useFormat();
  const systemName = useSystemName();
  const [low, high] = row.interval ?? [];
  return (
    <Table.Tr className={fresh ? classes.fresh : undefined} data-old={old || undefined}>
      <Table.Td ta="right" fw={650}>
        {row.rank}
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        <Text span fw={650}>
          {t('board.unit', { value: format.quantity(row.value), unit: unitName(row.unit, words) })}
        </Text>
        {low !== undefined && high !== undefined && (
          <Text size="xs" c="dimmed">
            {t('estimate.interval', { low: format.quantity(low), high: format.quantity(high) })}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Label kind="Simulated" />
      </Table.Td>
      <Table.Td>
        {row.organization_name}
        {row.job_id && (
          <Text size="xs">
            <LinkAnchor to="/jobs/$id" params={{ id: row.job_id }}>
              {t('board.yours')}
            </LinkAnchor>
          </Text>
        )}
      </Table.Td>
      <Table.Td>{t('jobs.on', { system: systemName(row.system), n: row.ipus })}</Table.Td>
      <Table.Td className="long">{row.model_name}</Table.Td>
      <Table.Td ta="right">{format.count(row.global_batch)}</Table.Td>
      <Table.Td>{row.precision}</Table.Td>
      <Table.Td c={old ? 'dimmed' : undefined}>{row.engine_release}</Table.Td>
      <Table.Td>{format.relative(row.achieved_at)}</Table.Td>
    </Table.Tr>
  );
}
