// The states a job goes through with their times, and how far the current one is.
import { Paper, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { whyQuery } from '~/api/queries/jobs';
import type { Job, JobState } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { isOver, type JobStream } from '~/live/jobStream';
import classes from './Job.module.css';

const ROAD: JobState[] = ['queued', 'allocating', 'compiling', 'running'];
const BAD: (JobState | 'end')[] = ['failed', 'timed_out', 'cancelled', 'cancelling'];

interface Props {
  job: Job;
  stream: JobStream;
  state: JobState;
}

export function StateLine({ job, stream, state }: Props) {
  const { t } = useWords();
  const format = useFormat();
  const began = new Map(stream.states.map((each) => [each.state, each.time]));
  const ending = isOver(state) || state === 'cancelling';
  const stops: (JobState | 'end')[] = [...ROAD, ending ? state : 'end'];
  const passed = (stop: JobState | 'end', i: number) =>
    stop === 'end' ? false : ending ? stop === state || began.has(stop) : i <= ROAD.indexOf(state);
  return (
    <Paper withBorder p="md">
      <ol className={classes.line} aria-label={t('job.states')} data-state={state}>
        {stops.map((stop, i) => (
          <li
            key={stop}
            className={classes.stop}
            data-done={passed(stop, i) || undefined}
            data-current={stop === state || undefined}
            data-bad={BAD.includes(stop) || undefined}
            aria-current={stop === state ? 'step' : undefined}
          >
            {t(`state.${stop}`)}
            {stop !== 'end' && began.has(stop) && (
              <span className={classes.time}>{format.clock(began.get(stop) ?? '')}</span>
            )}
          </li>
        ))}
      </ol>
      <Now job={job} stream={stream} state={state} />
    </Paper>
  );
}

function Now({ job, stream, state }: Props) {
  const { t, maybe } = useWords();
  const format = useFormat();
  if (state === 'queued') return <Why job={job} />;
  if (state === 'allocating')
    return (
      <Text size="sm" c="dimmed" mt="sm">
        {t('why.state.allocating')}
      </Text>
    );
  if (state === 'compiling' && stream.phase) {
    const label = t('job.phase', { name: maybe(`phase.${stream.phase.name}`) ?? stream.phase.name });
    return <Bar label={label} value={stream.phase.fraction} />;
  }
  const progress = stream.progress;
  if (state !== 'running' || !progress || progress.total === 0) return null;
  const count = t('jobs.step', { done: format.count(progress.done), total: format.count(progress.total) });
  return <Bar label={`${t(`job.progress.${job.task}`)}: ${count}`} value={progress.done / progress.total} />;
}

/** The rule that it waits for, its place, and when it may start. */
function Why({ job }: { job: Job }) {
  const { t, maybe } = useWords();
  const format = useFormat();
  const { data: why } = useQuery(whyQuery(job.id, job.waiting_for));
  const params = (why?.params ?? {}) as Record<string, string | number>;
  const start = why?.start;
  return (
    <Stack gap={2} mt="sm" data-testid="why">
      <Text size="sm">{(why && maybe(`why.${why.code}`, params)) ?? why?.sentence ?? t('job.waiting')}</Text>
      {why?.place && (
        <Text size="sm" c="dimmed" className="number">
          {t('why.place', { place: format.count(why.place), waiting: format.count(why.waiting ?? why.place) })}
          {start && start.runs > 0 && (
            <>
              {' · '}
              {t('why.start', {
                at: format.clock(start.at),
                earliest: format.clock(start.earliest),
                latest: format.clock(start.latest),
                runs: format.count(start.runs),
              })}
            </>
          )}
        </Text>
      )}
    </Stack>
  );
}

function Bar({ label, value }: { label: string; value: number }) {
  return (
    <Stack gap={4} mt="md">
      <Text size="sm" className="number">
        {label}
      </Text>
      <Progress value={value * 100} aria-label={label} transitionDuration={120} />
    </Stack>
  );
}
