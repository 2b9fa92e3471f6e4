// Asks for a link to set a new password. The answer does not tell whether the address has an account.
import { Alert, Button, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { requestReset } from '~/api/auth';
import { useSession } from '~/api/queries/session';
import { useWords } from '~/i18n/words';
import { LinkButton } from '~/shell/links';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Narrow } from './Narrow';

export function ForgottenPage() {
  const { t } = useWords();
  const { data: session } = useSession();
  const [email, setEmail] = useState('');
  const asking = useMutation({ mutationFn: () => requestReset(email) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    asking.mutate();
  };
  return (
    <Narrow>
      <Title order={1}>{t('reset.title')}</Title>
      {asking.isSuccess ? (
        <>
          <Alert color="pine">{t('reset.sent', { email })}</Alert>
          {session?.outbox && <LinkButton to="/outbox">{t('confirm.sent.open')}</LinkButton>}
        </>
      ) : (
        <>
          <Text c="dimmed">{t('reset.lead')}</Text>
          <Paper component="form" onSubmit={submit} withBorder p="lg">
            <Stack>
              <ProblemNotice problem={asking.error} />
              <TextInput
                label={t('field.email')}
                type="email"
                name="email"
                required
                autoComplete="email"
                value={email}
                onChange={(event) => setEmail(event.currentTarget.value)}
              />
              <Button type="submit" loading={asking.isPending}>
                {t('reset.send')}
              </Button>
            </Stack>
          </Paper>
        </>
      )}
    </Narrow>
  );
}
