// The report of a job: memory over the tiles, time, operators, and where the numbers come from.
import { Badge, Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { reportQuery } from '~/api/queries/jobs';
import type { Report } from '~/api/report';
import type { Job } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { Figure, Figures } from '~/shell/Figure';
import { Label } from '~/shell/Label';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { MemorySection } from './MemorySection';
import { OperatorTable } from './OperatorTable';
import { Provenance } from './Provenance';
import { TimeSection } from './TimeSection';

export function ReportView({ job, digest }: { job: Job; digest: string }) {
  const { data: report, error } = useQuery(reportQuery(job.id, digest));
  if (error && !report) return <ProblemNotice problem={error} />;
  if (!report) return <Waiting lines={8} />;
  return <OneReport report={report} />;
}

export function OneReport({ report }: { report: Report }) {
  const { t } = useWords();
  return (
    <section data-testid="report">
      <Group justify="space-between" align="flex-end">
        <div>
          <Title order={2}>{t('report.title')}</Title>
          <Text c="dimmed" size="sm">
            {t('report.lead', { release: report.engine.release })}
          </Text>
        </div>
        <Label kind="Simulated" />
      </Group>
      <Stack gap="md" mt="sm">
        <Headline report={report} />
        <Tabs defaultValue="memory" keepMounted={false}>
          <Tabs.List mb="md">
            <Tabs.Tab value="memory">{t('report.section.memory')}</Tabs.Tab>
            <Tabs.Tab value="time">{t('report.section.time')}</Tabs.Tab>
            <Tabs.Tab value="operators">{t('report.section.operators')}</Tabs.Tab>
            <Tabs.Tab value="provenance">{t('report.section.provenance')}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="memory">
            <MemorySection report={report} />
          </Tabs.Panel>
          <Tabs.Panel value="time">
            <TimeSection report={report} />
          </Tabs.Panel>
          <Tabs.Panel value="operators">
            <OperatorTable operators={report.operators} />
          </Tabs.Panel>
          <Tabs.Panel value="provenance">
            <Provenance report={report} />
          </Tabs.Panel>
        </Tabs>
      </Stack>
    </section>
  );
}

function Headline({ report }: { report: Report }) {
  const { t, language } = useWords();
  const format = useFormat();
  const { step_seconds: step, samples_per_second: rate } = report.intervals;
  const sentence = language === 'en' ? report.time.sentence : t(`bound.sentence.${report.time.bound_by}`);
  const parallel = report.parallel;
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Badge size="lg" variant="filled" color={report.fits ? 'pine.7' : 'brick.6'}>
          {t(report.fits ? 'report.fits' : 'report.fits_not')}
        </Badge>
        <Text>{sentence}</Text>
      </Group>
      <Figures>
        <Figure
          label={t(report.latency ? 'estimate.latency' : 'estimate.step')}
          value={format.seconds(report.step_seconds)}
          note={t('estimate.interval', { low: format.seconds(step[0]), high: format.seconds(step[1]) })}
        />
        <Figure
          label={t('estimate.throughput')}
          value={t('estimate.samples', { value: format.quantity(report.samples_per_second) })}
          note={t('estimate.interval', { low: format.quantity(rate[0]), high: format.quantity(rate[1]) })}
        />
        <Figure label={t('estimate.bound')} value={t(`bound.${report.time.bound_by}`)} />
        <Figure label={t('models.parameters')} value={format.short(report.model.parameters)} />
      </Figures>
      <Text size="sm" c="dimmed" className="number">
        {t('estimate.equation', {
          micro: format.count(parallel.micro_batch),
          replicas: format.count(parallel.replicas),
          global: format.count(parallel.global_batch),
        })}
      </Text>
      {language === 'en' && (
        <Text size="xs" c="dimmed">
          {t('report.basis', { basis: report.intervals.basis })}
        </Text>
      )}
    </Stack>
  );
}
