// Shown for an address that no page has.
import { Button, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useWords } from '~/i18n/words';

export function MissingPage() {
  const { t } = useWords();
  return (
    <Stack align="flex-start" py="xl">
      <Title order={1}>{t('missing.title')}</Title>
      <Text c="dimmed">{t('missing.text')}</Text>
      <Button component={Link} to="/">
        {t('missing.home')}
      </Button>
    </Stack>
  );
}
