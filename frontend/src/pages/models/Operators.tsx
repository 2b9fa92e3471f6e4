// The operators of a model with their counts, most frequent first.
import { Badge, Table, Title } from '@mantine/core';
import type { Inspection } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';

export function Operators({ operators }: { operators: Inspection['operators'] }) {
  const { t } = useWords();
  const format = useFormat();
  const rows = [...operators].sort((a, b) => b.count - a.count);
  return (
    <section>
      <Title order={2} size="h3" mb={6}>
        {t('models.operators')}
      </Title>
      <Table maw={620}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('models.operator')}</Table.Th>
            <Table.Th ta="right">{t('models.count')}</Table.Th>
            <Table.Th>{t('models.support')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={`${row.domain}.${row.op}`}>
              <Table.Td>{row.domain && row.domain !== 'ai.onnx' ? `${row.domain}.${row.op}` : row.op}</Table.Td>
              <Table.Td ta="right" className="number">
                {format.count(row.count)}
              </Table.Td>
              <Table.Td>
                <Badge variant="light" color={row.supported ? 'pine' : 'brick'}>
                  {t(row.supported ? 'models.supported' : 'models.unsupported')}
                </Badge>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
