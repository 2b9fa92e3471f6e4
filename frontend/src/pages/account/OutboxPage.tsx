// The mails of an installation that sends none. The portal answers only on the machine itself.
import { Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { outboxQuery } from '~/api/queries/session';
import type { OutboxMail } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { EmptyState } from '~/shell/EmptyState';
import { Waiting } from '~/shell/Waiting';

export function OutboxPage() {
  const { t } = useWords();
  const { data, isError } = useQuery(outboxQuery);
  return (
    <Stack maw={760} mx="auto">
      <Title order={1}>{t('outbox.title')}</Title>
      {isError ? <EmptyState text={t('outbox.absent')} /> : <Text c="dimmed">{t('outbox.lead')}</Text>}
      {!isError && !data && <Waiting />}
      {data?.results.length === 0 && <EmptyState text={t('outbox.empty')} />}
      {data?.results.map((mail) => (
        <Mail key={mail.id} mail={mail} />
      ))}
    </Stack>
  );
}

/** Links in a mail are absolute; those to this site are followed on the address under which the page is open. */
export function hereIfOurs(link: string, host = window.location.host): string {
  try {
    const url = new URL(link);
    return url.host === host ? url.pathname + url.search : link;
  } catch {
    return link;
  }
}

function Mail({ mail }: { mail: OutboxMail }) {
  const { t } = useWords();
  const format = useFormat();
  const link = mail.links[0];
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" align="flex-start">
        <div>
          <Text fw={600}>{mail.subject}</Text>
          <Text size="sm" c="dimmed">
            {t('outbox.to', { address: mail.to })} · {format.relative(mail.sent_at)}
          </Text>
        </div>
        {link && (
          <Button component="a" href={hereIfOurs(link)} size="sm">
            {t('outbox.follow')}
          </Button>
        )}
      </Group>
      <details>
        <Text component="summary" size="sm" c="dimmed" mt="xs" style={{ cursor: 'pointer' }}>
          {t('outbox.body')}
        </Text>
        <Code block mt="xs" style={{ whiteSpace: 'pre-wrap' }}>
          {mail.body}
        </Code>
      </details>
    </Paper>
  );
}
