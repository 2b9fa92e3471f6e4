// The page that a problem's `type` points to: what a code means and what to do.
import { Code, Stack, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useWords } from '~/i18n/words';

const route = getRouteApi('/docs/errors/$code');

export function ErrorCodePage() {
  const { t, maybe } = useWords();
  const { code } = route.useParams();
  return (
    <Stack maw={720}>
      <Title order={1}>{t('errorpage.title', { code })}</Title>
      <Text c="dimmed">{t('errorpage.lead')}</Text>
      <Text size="lg">{maybe(`error.${code}`) ?? t('errorpage.unknown')}</Text>
      <Code>{code}</Code>
    </Stack>
  );
}
