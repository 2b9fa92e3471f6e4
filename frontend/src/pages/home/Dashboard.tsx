// What a signed-in person sees first: the three steps, and what is going on.
import { Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useWorkplace } from '~/api/queries/session';
import type { Session } from '~/api/types';
import { useWords } from '~/i18n/words';
import { LinkAnchor } from '~/shell/links';
import { JobList } from '../jobs/JobList';
import classes from './Landing.module.css';

const STEPS = [
  { to: '/models', key: 'home.step.model' },
  { to: '/pods', key: 'home.step.reserve' },
  { to: '/launch', key: 'home.step.launch' },
] as const;
const RECENT = 6;

export function Dashboard({ session }: { session: Session }) {
  const { t } = useWords();
  const project = useWorkplace()?.project.id;
  return (
    <Stack gap="xl">
      <div>
        <Title order={1}>{t('home.title', { name: session.user?.name || session.user?.email || '' })}</Title>
        <Text c="dimmed">{t('home.lead')}</Text>
      </div>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        {STEPS.map((step, i) => (
          <Paper key={step.key} component={Link} to={step.to} withBorder p="lg" className={classes.card}>
            <Text className={classes.cardNumber} aria-hidden="true">
              {i + 1}
            </Text>
            <Text fw={650}>{t(step.key)}</Text>
            <Text size="sm" c="dimmed">
              {t(`${step.key}.text`)}
            </Text>
          </Paper>
        ))}
      </SimpleGrid>
      <section>
        <Group justify="space-between" mb="sm">
          <Title order={2}>{t('home.running')}</Title>
          <LinkAnchor to="/jobs">{t('home.all')}</LinkAnchor>
        </Group>
        {project && <JobList project={project} most={RECENT} />}
      </section>
    </Stack>
  );
}
