// How the job ended and whose doing it was; after success, its result in figures.
import { Alert, Group, Text } from '@mantine/core';
import type { Job, JobState } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import type { JobStream } from '~/live/jobStream';
import { Figure, Figures } from '~/shell/Figure';
import { Label } from '~/shell/Label';
import { sentenceOf } from '~/shell/ProblemNotice';

export function EndNotice({ job, stream, state }: { job: Job; stream: JobStream; state: JobState }) {
  const words = useWords();
  const { t } = words;
  const end = stream.end ?? job.end;
  if (state === 'succeeded') return <Result job={job} />;
  if (state === 'cancelled') return <Alert color="gray">{t('job.end.cancelled')}</Alert>;
  if (!end) return null;
  const sentence = sentenceOf(end.code, end.message, end.params ?? {}, words);
  return (
    <Alert color="brick" title={t(`job.end.${end.fault}`)} role="alert" data-end={end.code}>
      <Text>{sentence}</Text>
      {end.message && end.message !== sentence && (
        <Text size="sm" mt={4} lang="en">
          {end.message}
        </Text>
      )}
      <Text size="xs" mt={6} ff="monospace">
        {end.code}
      </Text>
    </Alert>
  );
}

function Result({ job }: { job: Job }) {
  const { t } = useWords();
  const format = useFormat();
  const result = job.result;
  if (!result) return null;
  return (
    <section aria-label={t('jobs.result')}>
      <Group justify="space-between" mb={6}>
        <Text fw={650}>{t('job.end.none')}</Text>
        <Label kind="Simulated" />
      </Group>
      <Figures>
        {result.samples_per_second !== null && (
          <Figure
            label={t('job.throughput')}
            value={t('estimate.samples', { value: format.quantity(result.samples_per_second) })}
          />
        )}
        {result.step_seconds !== null && job.task === 'train' && (
          <Figure label={t('estimate.step')} value={format.seconds(result.step_seconds)} />
        )}
        {result.latency_seconds !== null && (
          <Figure label={t('estimate.latency')} value={format.seconds(result.latency_seconds)} />
        )}
        {result.simulated_seconds !== null && (
          <Figure label={t('estimate.total')} value={format.seconds(result.simulated_seconds)} />
        )}
        {result.final_loss !== null && (
          <Figure label={t('job.last.loss')} value={format.quantity(result.final_loss)} note={t('job.loss.hint')} />
        )}
      </Figures>
    </section>
  );
}
