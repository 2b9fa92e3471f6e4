// The tile map in numbers: sum and spread of each quantity over the tiles.
import { Table } from '@mantine/core';
import { spreadOf } from '~/charts/tiles';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { WideTable } from '~/shell/WideTable';
import type { Layer } from './layers';

export function LayerTable({ layers, nameOf }: { layers: Layer[]; nameOf: (layer: Layer) => string }) {
  const { t } = useWords();
  const format = useFormat();
  return (
    <WideTable minWidth={560} label={t('report.section.memory')}>
      <Table className="number">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('report.table.category')}</Table.Th>
            <Table.Th ta="right">{t('report.table.sum')}</Table.Th>
            <Table.Th ta="right">{t('report.table.mean')}</Table.Th>
            <Table.Th ta="right">{t('report.table.least')}</Table.Th>
            <Table.Th ta="right">{t('report.table.most')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {layers.map((layer) => {
            const spread = spreadOf(layer.values);
            const show = (value: number) =>
              layer.unit === 'bytes' ? format.bytes(value) : t('report.cycles', { value: format.count(value) });
            return (
              <Table.Tr key={layer.id}>
                <Table.Th scope="row" fw={500}>
                  {nameOf(layer)}
                </Table.Th>
                <Table.Td ta="right">{show(spread.sum)}</Table.Td>
                <Table.Td ta="right">{show(spread.mean)}</Table.Td>
                <Table.Td ta="right">{show(spread.least)}</Table.Td>
                <Table.Td ta="right">{show(spread.most)}</Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}
