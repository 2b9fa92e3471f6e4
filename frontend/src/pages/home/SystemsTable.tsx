// The systems that can be simulated, with their sizes, and prices of those that can be had.
import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { systemsQuery } from '~/api/queries/catalogue';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { WideTable } from '~/shell/WideTable';

export function SystemsTable() {
  const { t } = useWords();
  const format = useFormat();
  const { data: systems, error } = useQuery(systemsQuery);
  if (error) return <ProblemNotice problem={error} />;
  if (!systems) return <Waiting />;
  return (
    <WideTable minWidth={640} label={t('landing.systems')}>
      <Table className="number">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('landing.system')}</Table.Th>
            <Table.Th>{t('landing.chip')}</Table.Th>
            <Table.Th ta="right">{t('landing.machines')}</Table.Th>
            <Table.Th ta="right">{t('landing.ipus')}</Table.Th>
            <Table.Th ta="right">{t('landing.tiles')}</Table.Th>
            <Table.Th ta="right">{t('landing.memory')}</Table.Th>
            <Table.Th ta="right">{t('landing.price')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {systems.map((system) => (
            <Table.Tr key={system.id}>
              <Table.Th scope="row">{system.name}</Table.Th>
              <Table.Td>{system.chip}</Table.Td>
              <Table.Td ta="right">{format.count(system.machines)}</Table.Td>
              <Table.Td ta="right">{format.count(system.ipus)}</Table.Td>
              <Table.Td ta="right">{format.count(system.ipus * system.tiles_per_ipu)}</Table.Td>
              <Table.Td ta="right">{format.bytes(system.ipus * system.tiles_per_ipu * system.bytes_per_tile)}</Table.Td>
              <Table.Td ta="right" c={system.reservable ? undefined : 'dimmed'}>
                {system.reservable ? format.credits(system.microcredits_per_ipu_hour) : t('landing.price.none')}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}
