// The calendar of one pod with the form to reserve beside it, and the reader's own slices below.
import { Group, Paper, SegmentedControl, Select, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { podsQuery, systemsQuery } from '~/api/queries/catalogue';
import { useWorkplace } from '~/api/queries/session';
import type { Pod, System } from '~/api/types';
import { browserZone } from '~/format/times';
import { useWords } from '~/i18n/words';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { Calendar } from './Calendar';
import { ReserveForm } from './ReserveForm';
import { Slices } from './Slices';
import type { View } from './slots';
import classes from './Pods.module.css';

export function PodsPage() {
  const { t } = useWords();
  const pods = useQuery(podsQuery);
  const systems = useQuery(systemsQuery);
  const project = useWorkplace()?.project.id;
  const problem = pods.error ?? systems.error;
  return (
    <Stack gap="lg">
      <div>
        <Title order={1}>{t('pods.title')}</Title>
        <Text c="dimmed">{t('pods.lead')}</Text>
      </div>
      <ProblemNotice problem={problem} />
      {!problem && (!pods.data || !systems.data || !project) && <Waiting lines={8} />}
      {pods.data && systems.data && project && <Booking pods={pods.data} systems={systems.data} project={project} />}
      {project && <Slices project={project} />}
    </Stack>
  );
}

function Booking({ pods, systems, project }: { pods: Pod[]; systems: System[]; project: string }) {
  const { t } = useWords();
  const [podId, setPodId] = useState(() => (pods.find((pod) => pod.system === 'pod16') ?? pods[0])?.id ?? null);
  const [view, setView] = useState<View>('day');
  const [zone, setZone] = useState(browserZone);
  const [at, setAt] = useState(() => new Date());
  const [start, setStart] = useState<Date | null>(null);
  const pod = pods.find((each) => each.id === podId);
  const system = systems.find((each) => each.id === pod?.system);
  if (!pod || !system) return null;
  return (
    <div className={classes.columns}>
      <Paper withBorder p="md" miw={0}>
        <Group justify="space-between" align="flex-end" mb="md">
          <Select
            label={t('pods.choose')}
            data={pods.map((each) => ({ value: each.id, label: each.name }))}
            value={podId}
            onChange={setPodId}
            allowDeselect={false}
            w={200}
          />
          <SegmentedControl
            aria-label={t('pods.view')}
            value={view}
            onChange={(next) => setView(next as View)}
            data={[
              { value: 'day', label: t('pods.day') },
              { value: 'week', label: t('pods.week') },
            ]}
          />
        </Group>
        <Calendar pod={pod} view={view} at={at} zone={zone} onMove={setAt} onPick={setStart} />
      </Paper>
      <Paper withBorder p="lg">
        <ReserveForm
          key={pod.id}
          pod={pod}
          system={system}
          project={project}
          zone={zone}
          onZone={setZone}
          chosenStart={start}
          onStart={setStart}
        />
      </Paper>
    </div>
  );
}
