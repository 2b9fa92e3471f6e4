// What a stranger sees first: what this is, how it goes, which systems there are, and what is real in it.
import { Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useWords } from '~/i18n/words';
import { LinkButton } from '~/shell/links';
import { ChipPicture } from './ChipPicture';
import { SystemsTable } from './SystemsTable';
import classes from './Landing.module.css';

const STEPS = ['1', '2', '3', '4'] as const;

export function Landing() {
  const { t } = useWords();
  return (
    <Stack gap={56}>
      <section className={classes.hero}>
        <Stack gap="md" className={classes.words}>
          <Title order={1} className={classes.title}>
            {t('landing.title')}
          </Title>
          <Text size="lg" c="dimmed" maw={560}>
            {t('landing.lead')}
          </Text>
          <Group>
            <LinkButton to="/signup" size="md">
              {t('landing.start')}
            </LinkButton>
            <LinkButton to="/leaderboards" size="md" variant="default">
              {t('landing.boards')}
            </LinkButton>
          </Group>
        </Stack>
        <ChipPicture />
      </section>
      <SimpleGrid component="ol" cols={{ base: 1, xs: 2, md: 4 }} className={classes.steps}>
        {STEPS.map((step) => (
          <li key={step} className={classes.step}>
            <span className={classes.stepNumber} aria-hidden="true">
              {step}
            </span>
            <Text fw={650}>{t(`landing.how.${step}.title`)}</Text>
            <Text size="sm" c="dimmed">
              {t(`landing.how.${step}.text`)}
            </Text>
          </li>
        ))}
      </SimpleGrid>
      <section>
        <Title order={2}>{t('landing.systems')}</Title>
        <Text c="dimmed" mb="sm">
          {t('landing.systems.lead')}
        </Text>
        <SystemsTable />
      </section>
      <section className={classes.honest}>
        <Title order={2} mb={6}>
          {t('landing.honest.title')}
        </Title>
        <Text maw={780}>{t('landing.honest.text')}</Text>
      </section>
    </Stack>
  );
}
