// One job from its first state to its report. Everything that moves comes over the socket as events; the row fetched
// by HTTP supplies what does not move (model, settings) and the final result.
import { Alert, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { jobQuery } from '~/api/queries/jobs';
import type { Job } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { isOver, type JobStream } from '~/live/jobStream';
import { useJobStream, type Follow } from '~/live/useJobStream';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { useSystemName } from '~/shell/useSystemName';
import { Waiting } from '~/shell/Waiting';
import { modelName } from '../models/modelWords';
import { Artefacts } from './Artefacts';
import { Curves } from './Curves';
import { EndNotice } from './EndNotice';
import { JobActions } from './JobActions';
import { LogView } from './LogView';
import { Settings } from './Settings';
import { StateLine } from './StateLine';

const route = getRouteApi('/private/jobs/$id');
const ReportView = lazy(() => import('../report/ReportView').then((module) => ({ default: module.ReportView })));

export function JobPage() {
  const { id } = route.useParams();
  const { data: job, error } = useQuery(jobQuery(id));
  if (error && !job) return <ProblemNotice problem={error} />;
  if (!job) return <Waiting lines={8} />;
  return <OneJob key={id} job={job} />;
}

function OneJob({ job }: { job: Job }) {
  const { t } = useWords();
  const client = useQueryClient();
  const { stream, follow } = useJobStream(job.id);
  const state = stream.state ?? job.state;
  const over = isOver(state);
  useEffect(() => {
    if (!over) return;
    void client.invalidateQueries({ queryKey: ['job', job.id] });
    void client.invalidateQueries({ queryKey: ['session'] });
  }, [client, job.id, over]);
  if (follow === 'refused') return <Alert color="brick">{t('job.refused')}</Alert>;
  return (
    <Stack gap="lg">
      <Heading job={job} stream={stream} follow={follow} />
      <StateLine job={job} stream={stream} state={state} />
      <Attempts stream={stream} />
      {over && <EndNotice job={job} stream={stream} state={state} />}
      <Curves job={job} stream={stream} over={over} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <LogView lines={stream.log} name={`podium-job-${job.number}.log`} />
        <Settings job={job} />
      </SimpleGrid>
      {stream.reportDigest && (
        <Suspense fallback={<Waiting lines={8} />}>
          <ReportView job={job} digest={stream.reportDigest} />
        </Suspense>
      )}
      {over && <Artefacts job={job} />}
    </Stack>
  );
}

function Heading({ job, stream, follow }: { job: Job; stream: JobStream; follow: Follow }) {
  const words = useWords();
  const { t } = words;
  const format = useFormat();
  const systemName = useSystemName();
  return (
    <Group justify="space-between" align="flex-start">
      <div>
        <Text size="sm" c="dimmed" className="number">
          {t('job.title', { number: job.number })} · {format.dateTime(job.created_at)} ·{' '}
          {t('common.by', { name: job.created_by.name })}
        </Text>
        <Title order={1}>{job.name || modelName(job.model, words)}</Title>
        <Text c="dimmed" className="number">
          {t(`task.${job.task}`)} · {t('jobs.on', { system: systemName(job.system), n: job.ipus })} ·{' '}
          <Price job={job} />
        </Text>
      </div>
      <JobActions job={job} stream={stream} follow={follow} />
    </Group>
  );
}

function Price({ job }: { job: Job }) {
  const { t } = useWords();
  const format = useFormat();
  if (job.reservation_id) return t('job.price.slice');
  if (job.ended_at) return t('job.price.paid', { value: format.credits(job.price.captured_microcredits) });
  return t('job.price.held', { value: format.credits(job.price.held_microcredits) });
}

/** Each attempt after the first, so that nobody wonders why the log begins twice. */
function Attempts({ stream }: { stream: JobStream }) {
  const { t } = useWords();
  const later = stream.attempts.filter((attempt) => attempt.number > 1);
  if (later.length === 0) return null;
  return (
    <Paper withBorder p="sm">
      {later.map((attempt) => (
        <Text key={attempt.number} size="sm">
          {t(attempt.resumeStep > 0 ? 'job.resumed' : 'job.restarted', {
            number: attempt.number,
            step: attempt.resumeStep,
          })}
        </Text>
      ))}
    </Paper>
  );
}
