// The settings a job runs with, in the words of the launch page.
import { Code, Paper, Table, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Job } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { modelName } from '../models/modelWords';
import { LinkAnchor } from '~/shell/links';

export function Settings({ job }: { job: Job }) {
  const words = useWords();
  const { t } = words;
  const format = useFormat();
  const config = job.config;
  const training = job.task === 'train';
  const rows: [string, ReactNode][] = [
    [
      t('launch.model'),
      job.model.id ? <ModelLink key="m" id={job.model.id} name={job.model.name} /> : modelName(job.model, words),
    ],
    [t('launch.batch'), format.count(config.batch)],
    [t(`launch.steps.${job.task}`), format.count(config.steps)],
    ...(training
      ? ([
          [t('launch.dataset'), t(`dataset.${config.dataset}.name`)],
          [t('launch.optimiser'), t(`optimiser.${config.optimiser}`)],
          [t('launch.learning_rate'), String(config.learning_rate)],
        ] as [string, ReactNode][])
      : []),
    [t('launch.precision'), config.precision],
    [t('launch.partials'), config.partials],
    [t('launch.seed'), String(config.seed)],
    ...Object.entries(config.dims ?? {}).map(([name, size]): [string, ReactNode] => [name, format.count(size)]),
    ...(job.model.sha256
      ? ([[t('models.sha'), <Code key="sha">{job.model.sha256.slice(0, 16)}</Code>]] as [string, ReactNode][])
      : []),
  ];
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h3" mb="xs">
        {t('job.settings')}
      </Title>
      <Table className="number">
        <Table.Tbody>
          {rows.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={400} c="dimmed" w="46%">
                {name}
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}

function ModelLink({ id, name }: { id: string; name: string }) {
  return (
    <LinkAnchor to="/models/$id" params={{ id }}>
      {name}
    </LinkAnchor>
  );
}
