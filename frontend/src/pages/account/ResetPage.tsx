// Where the link of the password mail leads: sets a new password, then leads to the log-in.
import { Button, Paper, PasswordInput, Stack, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { resetPassword } from '~/api/auth';
import { useWords } from '~/i18n/words';
import { fieldError, ProblemNotice } from '~/shell/ProblemNotice';
import { Narrow } from './Narrow';

const route = getRouteApi('/reset-password/$key');

export function ResetPage() {
  const words = useWords();
  const { t } = words;
  const { key } = route.useParams();
  const navigate = useNavigate();
  const [password, setPassword] = useState('');
  const saving = useMutation({
    mutationFn: () => resetPassword(key, password),
    onSuccess: () => navigate({ to: '/login', search: { confirmed: 'password' } }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  const named = fieldError(saving.error, 'password', words);
  return (
    <Narrow>
      <Title order={1}>{t('reset.title')}</Title>
      <Paper component="form" onSubmit={submit} withBorder p="lg">
        <Stack>
          {!named && <ProblemNotice problem={saving.error} />}
          <PasswordInput
            label={t('reset.new')}
            description={t('field.password.hint')}
            required
            minLength={8}
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={named}
          />
          <Button type="submit" loading={saving.isPending}>
            {t('reset.save')}
          </Button>
        </Stack>
      </Paper>
    </Narrow>
  );
}
