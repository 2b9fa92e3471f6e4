// Shown when a page throws: a problem of the portal is told as such, anything else is our fault.
import { Button, Stack, Text, Title } from '@mantine/core';
import { Problem } from '~/api/problem';
import { useWords } from '~/i18n/words';
import { ProblemNotice } from './ProblemNotice';

export function CrashPage({ error }: { error: unknown }) {
  const { t } = useWords();
  const reload = <Button onClick={() => window.location.reload()}>{t('crash.reload')}</Button>;
  if (error instanceof Problem)
    return (
      <Stack align="flex-start">
        <ProblemNotice problem={error} />
        {reload}
      </Stack>
    );
  return (
    <Stack align="flex-start" py="xl">
      <Title order={1}>{t('crash.title')}</Title>
      <Text c="dimmed">{t('crash.text')}</Text>
      {reload}
    </Stack>
  );
}
