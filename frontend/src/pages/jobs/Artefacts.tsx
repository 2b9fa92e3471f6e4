// The files that a job left.
import { Anchor, Paper, Table, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { artefactsQuery } from '~/api/queries/jobs';
import type { Job } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';

export function Artefacts({ job }: { job: Job }) {
  const { t } = useWords();
  const format = useFormat();
  const { data } = useQuery(artefactsQuery(job.id));
  if (!data?.length) return null;
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h3" mb="xs">
        {t('job.artefacts')}
      </Title>
      <Table>
        <Table.Tbody>
          {data.map((file) => (
            <Table.Tr key={file.id}>
              <Table.Td>
                <Anchor href={`/api/v1/jobs/${job.id}/artefacts/${file.id}/file`} download={file.name}>
                  {file.name}
                </Anchor>
              </Table.Td>
              <Table.Td ta="right" className="number">
                {format.bytes(file.bytes)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
