// What the engine expects of the chosen job. While a newer question is open the former answer stays, paler.
import { Badge, Group, Loader, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import type { EstimateRequest } from '~/api/queries/jobs';
import type { Estimate, EstimateRow } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { Figure, Figures } from '~/shell/Figure';
import { Label } from '~/shell/Label';
import { ProblemNotice, sentenceOf } from '~/shell/ProblemNotice';
import classes from './LaunchPage.module.css';

interface Props {
  request: EstimateRequest | null;
  row: EstimateRow | undefined;
  problem: unknown;
  working: boolean;
  onSlice: boolean;
}

export function EstimateCard({ request, row, problem, working, onSlice }: Props) {
  const words = useWords();
  const { t } = words;
  return (
    <Paper withBorder p="lg" aria-live="polite" data-testid="estimate">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h3">
          {t('estimate.title')}
        </Title>
        {working ? <Loader size="xs" role="status" aria-label={t('estimate.working')} /> : <Label kind="Simulated" />}
      </Group>
      {!request && <Text c="dimmed">{t('estimate.choose')}</Text>}
      {request && problem ? <ProblemNotice problem={problem} title={t('estimate.failed')} /> : null}
      {request && !problem && row?.error && (
        <Text c="brick" size="sm">
          {sentenceOf(row.error.code, row.error.detail, row.error.params ?? {}, words)}
        </Text>
      )}
      {request && !problem && row?.estimate && (
        <div className={working ? classes.stale : undefined}>
          <Answer estimate={row.estimate} request={request} onSlice={onSlice} />
        </div>
      )}
      {request && !problem && !row && <Text c="dimmed">{t('estimate.working')}</Text>}
    </Paper>
  );
}

function Answer({ estimate, request, onSlice }: { estimate: Estimate; request: EstimateRequest; onSlice: boolean }) {
  const { t, language } = useWords();
  const format = useFormat();
  const training = request.config.task === 'train';
  const batch = estimate.batch_equation;
  const range = (name: string, show: (value: number) => string) => {
    const interval = estimate.intervals?.[name];
    return Array.isArray(interval)
      ? t('estimate.interval', { low: show(interval[0]), high: show(interval[1]) })
      : undefined;
  };
  const sentence =
    language === 'en' && estimate.sentence ? estimate.sentence : t(`bound.sentence.${estimate.bound_by}`);
  return (
    <Stack gap="sm">
      <Fit estimate={estimate} />
      <Figures>
        <Figure
          label={t('estimate.throughput')}
          value={t('estimate.samples', { value: format.quantity(estimate.samples_per_second) })}
          note={range('samples_per_second', format.quantity)}
        />
        <Figure
          label={t(training ? 'estimate.step' : 'estimate.latency')}
          value={format.seconds(training ? estimate.step_seconds : (estimate.latency_seconds ?? estimate.step_seconds))}
          note={range('step_seconds', format.seconds)}
        />
        <Figure label={t('estimate.total')} value={format.seconds(estimate.total_simulated_seconds)} />
        <Figure
          label={t('estimate.price')}
          value={
            onSlice
              ? t('estimate.price.slice')
              : t('common.credits', { value: format.credits(estimate.price_microcredits) })
          }
        />
      </Figures>
      <Text size="sm" className="number">
        {t('estimate.equation', {
          micro: format.count(batch.micro_batch),
          replicas: format.count(batch.replicas),
          global: format.count(batch.global_batch),
        })}
      </Text>
      <Text size="sm" className={classes.sentence}>
        {sentence}
      </Text>
    </Stack>
  );
}

function Fit({ estimate }: { estimate: Estimate }) {
  const { t } = useWords();
  const format = useFormat();
  const { worst_tile_bytes: used, bytes_per_tile: total, over_by: over } = estimate.memory;
  return (
    <div>
      <Group gap="xs">
        <Badge size="lg" variant="filled" color={estimate.fits ? 'pine.7' : 'brick.6'} data-fits={estimate.fits}>
          {t(estimate.fits ? 'estimate.fits' : 'estimate.fits_not')}
        </Badge>
        {!estimate.fits && (
          <Text size="sm" c="brick">
            {t('estimate.over_by', { bytes: format.bytes(over) })}
          </Text>
        )}
      </Group>
      <Group justify="space-between" mt="xs" mb={2}>
        <Text size="xs" c="dimmed">
          {t('estimate.memory')}
        </Text>
        <Text size="xs" c="dimmed" className="number">
          {t('estimate.memory.of', { used: format.bytes(used), total: format.bytes(total) })}
        </Text>
      </Group>
      <Progress
        value={Math.min(100, (used / total) * 100)}
        color={estimate.fits ? 'pine' : 'brick'}
        aria-label={t('estimate.memory')}
      />
    </div>
  );
}
