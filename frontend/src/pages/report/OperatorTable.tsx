// The operators of a step, slowest first; names are those of the model's own nodes.
import { Button, Progress, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import type { OperatorRow } from '~/api/report';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { WideTable } from '~/shell/WideTable';

const FIRST = 15;

export function OperatorTable({ operators }: { operators: OperatorRow[] }) {
  const { t } = useWords();
  const format = useFormat();
  const [all, setAll] = useState(false);
  return (
    <Stack gap="sm">
      <Text c="dimmed">{t('report.operators.lead')}</Text>
      <WideTable minWidth={760} label={t('report.section.operators')}>
        <Table className="number" highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('report.operator')}</Table.Th>
              <Table.Th>{t('report.kind')}</Table.Th>
              <Table.Th>{t('report.pass')}</Table.Th>
              <Table.Th ta="right">{t('report.count')}</Table.Th>
              <Table.Th ta="right">{t('report.tiles_used')}</Table.Th>
              <Table.Th ta="right">{t('report.seconds')}</Table.Th>
              <Table.Th w={150}>{t('report.share')}</Table.Th>
              <Table.Th>{t('report.bound')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {operators.slice(0, all ? undefined : FIRST).map((row, i) => (
              <Row key={i} row={row} />
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      {!all && operators.length > FIRST && (
        <Button variant="default" onClick={() => setAll(true)} style={{ alignSelf: 'flex-start' }}>
          {t('report.operators.all', { n: format.count(operators.length) })}
        </Button>
      )}
    </Stack>
  );
}

function Row({ row }: { row: OperatorRow }) {
  const { maybe } = useWords();
  const format = useFormat();
  const share = format.percent(row.share);
  return (
    <Table.Tr>
      <Table.Td className="long">{row.name}</Table.Td>
      <Table.Td>
        <Text size="xs" ff="monospace">
          {row.primitive || row.kind}
        </Text>
      </Table.Td>
      <Table.Td>{maybe(`pass.${row.pass}`) ?? row.pass}</Table.Td>
      <Table.Td ta="right">{format.count(row.count)}</Table.Td>
      <Table.Td ta="right">{format.count(row.tiles_used)}</Table.Td>
      <Table.Td ta="right">{format.seconds(row.seconds)}</Table.Td>
      <Table.Td>
        <Text size="xs">{share}</Text>
        <Progress value={row.share * 100} size="sm" aria-label={share} />
      </Table.Td>
      <Table.Td>{maybe(`bound.${row.bound_by}`) ?? row.bound_by}</Table.Td>
    </Table.Tr>
  );
}
