// Loss and throughput as they come, against step, simulated time or wall-clock time. A table says the same in numbers.
import { Button, Group, Paper, SegmentedControl, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { Job } from '~/api/types';
import type { Series } from '~/charts/LineChart';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import type { JobStream, MetricPoint } from '~/live/jobStream';
import { Figure, Figures } from '~/shell/Figure';
import { Label } from '~/shell/Label';
import { WideTable } from '~/shell/WideTable';

const LineChart = lazy(() => import('~/charts/LineChart').then((module) => ({ default: module.LineChart })));
const HEIGHT = 260;
const AXES = ['step', 'simulated', 'wall'] as const;
type Axis = (typeof AXES)[number];
const X: Record<Axis, (point: MetricPoint) => number> = {
  step: (point) => point.step,
  simulated: (point) => point.simulated_seconds,
  wall: (point) => point.wall_seconds,
};

export function Curves({ job, stream, over }: { job: Job; stream: JobStream; over: boolean }) {
  const { t } = useWords();
  const [axis, setAxis] = useState<Axis>('step');
  const [asTable, setAsTable] = useState(false);
  const points = stream.points;
  const training = job.task === 'train';
  const loss = useMemo(() => line(points, axis, (p) => p.loss), [points, axis]);
  const rate = useMemo(() => line(points, axis, (p) => p.samples_per_second), [points, axis]);
  const stepName = t(training ? 'job.axis.step' : 'job.axis.batch');
  const xName = axis === 'step' ? stepName : t(`job.axis.${axis}`);
  if (points.length === 0)
    return (
      <Paper withBorder p="xl">
        <Text c="dimmed" ta="center">
          {t(over ? 'job.points.failed' : 'job.points.none')}
        </Text>
      </Paper>
    );
  return (
    <Stack gap="sm">
      {!over && <Latest point={points[points.length - 1]} training={training} />}
      <Group justify="space-between">
        <SegmentedControl
          size="xs"
          aria-label={t('job.axis.choose')}
          value={axis}
          onChange={(value) => setAxis(value as Axis)}
          data={AXES.map((value) => ({ value, label: value === 'step' ? stepName : t(`job.axis.by_${value}`) }))}
        />
        <Button variant="subtle" size="compact-sm" onClick={() => setAsTable(!asTable)}>
          {t(asTable ? 'common.picture' : 'common.table')}
        </Button>
      </Group>
      {asTable ? (
        <PointTable points={points} training={training} />
      ) : (
        <SimpleGrid cols={{ base: 1, md: training ? 2 : 1 }}>
          {training && (
            <Curve
              title={t('job.loss')}
              hint={t('job.loss.hint')}
              series={{ name: t('job.axis.loss'), points: loss }}
              xName={xName}
              simulated={false}
            />
          )}
          <Curve
            title={t('job.throughput')}
            hint={t('job.throughput.hint')}
            series={{ name: t('job.axis.samples'), points: rate }}
            xName={xName}
            simulated
          />
        </SimpleGrid>
      )}
    </Stack>
  );
}

function line(
  points: readonly MetricPoint[],
  axis: Axis,
  y: (point: MetricPoint) => number | null,
): [number, number][] {
  return points.flatMap((point): [number, number][] => {
    const value = y(point);
    return value === null || value === undefined ? [] : [[X[axis](point), value]];
  });
}

interface CurveProps {
  title: string;
  hint: string;
  series: Series;
  xName: string;
  simulated: boolean;
}

function Curve({ title, hint, series, xName, simulated }: CurveProps) {
  return (
    <Paper withBorder p="md" miw={0}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Title order={2} size="h3">
          {title}
        </Title>
        {simulated && <Label kind="Simulated" />}
      </Group>
      <Text size="xs" c="dimmed" mb="xs">
        {hint}
      </Text>
      <Suspense fallback={<div style={{ height: HEIGHT }} />}>
        <LineChart
          series={[series]}
          xName={xName}
          yName={series.name}
          height={HEIGHT}
          label={`${title}. ${hint}`}
          fromZero={simulated}
        />
      </Suspense>
    </Paper>
  );
}

function Latest({ point, training }: { point: MetricPoint | undefined; training: boolean }) {
  const { t } = useWords();
  const format = useFormat();
  if (!point) return null;
  return (
    <Figures>
      <Figure label={t(training ? 'job.axis.step' : 'job.axis.batch')} value={format.count(point.step)} />
      {training && point.loss !== null && (
        <Figure label={t('job.last.loss')} value={<span data-testid="last-loss">{format.quantity(point.loss)}</span>} />
      )}
      <Figure label={t('job.last.clock')} value={format.seconds(point.simulated_seconds)} />
      <Figure
        label={t('job.last.rate')}
        value={t('estimate.samples', { value: format.quantity(point.samples_per_second) })}
      />
    </Figures>
  );
}

const MOST_ROWS = 200;

/** Evenly spaced points when there are many; the first and the last are always among them. */
function PointTable({ points, training }: { points: readonly MetricPoint[]; training: boolean }) {
  const { t } = useWords();
  const format = useFormat();
  const stride = Math.max(1, Math.ceil(points.length / MOST_ROWS));
  const rows = points.filter((_, i) => i % stride === 0 || i === points.length - 1);
  return (
    <WideTable minWidth={420} label={t('common.table')} maxHeight={360}>
      <Table className="number" stickyHeader>
        <Table.Thead>
          <Table.Tr>
            <Table.Th ta="right">{t(training ? 'job.axis.step' : 'job.axis.batch')}</Table.Th>
            {training && <Table.Th ta="right">{t('job.axis.loss')}</Table.Th>}
            <Table.Th ta="right">{t('job.axis.samples')}</Table.Th>
            <Table.Th ta="right">{t('job.axis.simulated')}</Table.Th>
            <Table.Th ta="right">{t('job.axis.wall')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((point) => (
            <Table.Tr key={point.step}>
              <Table.Td ta="right">{format.count(point.step)}</Table.Td>
              {training && (
                <Table.Td ta="right">{point.loss === null ? t('common.none') : format.quantity(point.loss)}</Table.Td>
              )}
              <Table.Td ta="right">{format.quantity(point.samples_per_second)}</Table.Td>
              <Table.Td ta="right">{format.quantity(point.simulated_seconds)}</Table.Td>
              <Table.Td ta="right">{format.quantity(point.wall_seconds)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}
