// Shown for an address that no page has.
import { Stack, Text, Title } from '@mantine/core';
import { useWords } from '~/i18n/words';
import { LinkButton } from '~/shell/links';

export function MissingPage() {
  const { t } = useWords();
  return (
    <Stack align="flex-start" py="xl">
      <Title order={1}>{t('missing.title')}</Title>
      <Text c="dimmed">{t('missing.text')}</Text>
      <LinkButton to="/">{t('missing.home')}</LinkButton>
    </Stack>
  );
}
