// A project's jobs, newest first, kept current by hints: the whole list, or the first few for the start page.
import { Button, Table, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { jobsQuery } from '~/api/queries/jobs';
import type { Job, JobState } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { useTopic } from '~/live/LiveProvider';
import { EmptyState } from '~/shell/EmptyState';
import { LinkAnchor, LinkButton } from '~/shell/links';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { useSystemName } from '~/shell/useSystemName';
import { Waiting } from '~/shell/Waiting';
import { WideTable } from '~/shell/WideTable';
import { modelName } from '../models/modelWords';
import { JobStateChip } from './JobStateChip';

export function JobList({ project, state, most }: { project: string; state?: JobState; most?: number }) {
  const { t } = useWords();
  const client = useQueryClient();
  const list = useInfiniteQuery(jobsQuery(project, state));
  useTopic(`project:${project}`, (what) => {
    if (what === null || what.kind === 'job') void client.invalidateQueries({ queryKey: ['jobs', project] });
  });
  if (list.error) return <ProblemNotice problem={list.error} />;
  if (!list.data) return <Waiting />;
  const rows = list.data.pages.flatMap((page) => page.results).slice(0, most);
  if (rows.length === 0)
    return (
      <EmptyState text={t('jobs.empty')}>
        <LinkButton to="/launch" variant="light">
          {t('jobs.new')}
        </LinkButton>
      </EmptyState>
    );
  return (
    <div>
      <JobTable rows={rows} />
      {list.hasNextPage && !most && (
        <Button variant="default" mt="sm" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>
          {t('common.more')}
        </Button>
      )}
    </div>
  );
}

function JobTable({ rows }: { rows: Job[] }) {
  const { t } = useWords();
  return (
    <WideTable minWidth={720} label={t('jobs.title')}>
      <Table highlightOnHover className="number">
        <Table.Thead>
          <Table.Tr>
            <Table.Th ta="right">{t('jobs.number')}</Table.Th>
            <Table.Th>{t('jobs.job')}</Table.Th>
            <Table.Th>{t('common.state')}</Table.Th>
            <Table.Th>{t('launch.task')}</Table.Th>
            <Table.Th>{t('jobs.where')}</Table.Th>
            <Table.Th ta="right">{t('jobs.result')}</Table.Th>
            <Table.Th>{t('common.created')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((job) => (
            <JobRow key={job.id} job={job} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function JobRow({ job }: { job: Job }) {
  const words = useWords();
  const { t } = words;
  const format = useFormat();
  const systemName = useSystemName();
  const result = job.result;
  return (
    <Table.Tr>
      <Table.Td ta="right">{job.number}</Table.Td>
      <Table.Td maw={300} miw={170} className="long">
        <LinkAnchor to="/jobs/$id" params={{ id: job.id }} fw={600} lineClamp={2}>
          {job.name || modelName(job.model, words)}
        </LinkAnchor>
        {job.name && (
          <Text size="xs" c="dimmed" truncate>
            {modelName(job.model, words)}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <JobStateChip state={job.state} />
      </Table.Td>
      <Table.Td>{t(`task.${job.task}`)}</Table.Td>
      <Table.Td>{t('jobs.on', { system: systemName(job.system), n: job.ipus })}</Table.Td>
      <Table.Td ta="right">
        {!result && t('common.none')}
        {result && job.task === 'train' && t('estimate.samples', { value: format.quantity(result.samples_per_second) })}
        {result && job.task === 'infer' && format.seconds(result.latency_seconds ?? result.step_seconds)}
      </Table.Td>
      <Table.Td>{format.relative(job.created_at)}</Table.Td>
    </Table.Tr>
  );
}
