// The reader's jobs with a filter by state.
import { Group, Select, Stack, Title } from '@mantine/core';
import { useState } from 'react';
import { useWorkplace } from '~/api/queries/session';
import type { JobState } from '~/api/types';
import { useWords } from '~/i18n/words';
import { LinkButton } from '~/shell/links';
import { JobList } from './JobList';

const FILTERS: JobState[] = ['queued', 'compiling', 'running', 'succeeded', 'failed', 'cancelled'];

export function JobsPage() {
  const { t } = useWords();
  const project = useWorkplace()?.project.id;
  const [state, setState] = useState<JobState | ''>('');
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <Title order={1}>{t('jobs.title')}</Title>
        <Group align="flex-end">
          <Select
            aria-label={t('jobs.filter')}
            w={150}
            data={[
              { value: '', label: t('jobs.all') },
              ...FILTERS.map((value) => ({ value, label: t(`state.${value}`) })),
            ]}
            value={state}
            onChange={(value) => setState(value as JobState | '')}
            allowDeselect={false}
          />
          <LinkButton to="/launch">{t('jobs.new')}</LinkButton>
        </Group>
      </Group>
      {project && <JobList project={project} state={state || undefined} />}
    </Stack>
  );
}
