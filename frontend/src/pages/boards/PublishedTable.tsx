// Figures published by others, with source, round and division. In the order of their sources: never ranked.
import { Anchor, Table, Text } from '@mantine/core';
import type { PublishedRow } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { isLabelKind, Label } from '~/shell/Label';
import { WideTable } from '~/shell/WideTable';
import { unitName } from './suiteWords';

export function PublishedTable({ rows }: { rows: PublishedRow[] }) {
  const { t } = useWords();
  return (
    <WideTable minWidth={940} label={t('board.published')}>
      <Table className="number" data-testid="published">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('board.system')}</Table.Th>
            <Table.Th ta="right">{t('board.chips')}</Table.Th>
            <Table.Th ta="right">{t('board.value')}</Table.Th>
            <Table.Th>{t('board.label')}</Table.Th>
            <Table.Th>{t('board.model')}</Table.Th>
            <Table.Th>{t('board.framework')}</Table.Th>
            <Table.Th>{t('board.round')}</Table.Th>
            <Table.Th>{t('board.source')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody lang="en">
          {rows.map((row, i) => (
            <Row key={i} row={row} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function Row({ row }: { row: PublishedRow }) {
  const words = useWords();
  const { t } = words;
  const format = useFormat();
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        {row.system}
      </Table.Th>
      <Table.Td ta="right">{row.chips}</Table.Td>
      <Table.Td ta="right" fw={600} style={{ whiteSpace: 'nowrap' }}>
        {t('board.unit', { value: format.quantity(row.value), unit: unitName(row.unit, words) })}
      </Table.Td>
      <Table.Td>{isLabelKind(row.label) ? <Label kind={row.label} /> : row.label}</Table.Td>
      <Table.Td>{row.model}</Table.Td>
      <Table.Td>
        <Text size="xs">{row.framework}</Text>
      </Table.Td>
      <Table.Td>
        {row.round}
        {row.division && `, ${row.division}`}
      </Table.Td>
      <Table.Td maw={280} miw={180} className="long">
        <Source source={row.source} />
        {row.notes && (
          <Text size="xs" c="dimmed" lineClamp={2} title={row.notes}>
            {row.notes}
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function Source({ source }: { source: string }) {
  if (!/^https?:\/\//.test(source)) return <Text size="xs">{source}</Text>;
  return (
    <Anchor size="xs" href={source} rel="noreferrer nofollow" target="_blank">
      {source.replace(/^https?:\/\//, '')}
    </Anchor>
  );
}
