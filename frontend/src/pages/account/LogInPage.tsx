// Signing in. Someone whose address is not confirmed is told where the mail is.
import { Alert, Button, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate, useRouter } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { logIn } from '~/api/auth';
import { useSessionChanged } from '~/api/queries/session';
import { useWords } from '~/i18n/words';
import { useLiveSocket } from '~/live/LiveProvider';
import { fieldError, ProblemNotice } from '~/shell/ProblemNotice';
import { LinkAnchor } from '~/shell/links';
import { Narrow } from './Narrow';
import { MailSent } from './SignUpPage';

const route = getRouteApi('/login');

/** Only a path of this site may follow a sign-in. */
export function safeNext(next: string | undefined): string {
  return next && /^\/(?![/\\])/.test(next) ? next : '/';
}

export function LogInPage() {
  const words = useWords();
  const { t } = words;
  const { next, confirmed } = route.useSearch();
  const navigate = useNavigate();
  const router = useRouter();
  const live = useLiveSocket();
  const changed = useSessionChanged();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signing = useMutation({
    mutationFn: () => logIn(email, password),
    onSuccess: async (outcome) => {
      if (outcome !== 'signed_in') return;
      await changed();
      live.restart();
      const target = safeNext(next);
      if (target === '/') await navigate({ to: '/' });
      else router.history.push(target);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signing.mutate();
  };
  if (signing.data === 'confirm_mail') return <MailSent email={email} />;
  return (
    <Narrow>
      <Title order={1}>{t('login.title')}</Title>
      {confirmed && <Alert color="pine">{t(confirmed === 'password' ? 'reset.done' : 'login.confirmed')}</Alert>}
      <Paper component="form" onSubmit={submit} withBorder p="lg">
        <Stack>
          <ProblemNotice problem={signing.error} />
          <TextInput
            label={t('field.email')}
            type="email"
            name="email"
            required
            autoComplete="email"
            value={email}
            onChange={(e) => setEmail(e.currentTarget.value)}
            error={fieldError(signing.error, 'email', words)}
          />
          <PasswordInput
            label={t('field.password')}
            name="password"
            required
            autoComplete="current-password"
            value={password}
            onChange={(e) => setPassword(e.currentTarget.value)}
          />
          <Button type="submit" loading={signing.isPending}>
            {t('login.submit')}
          </Button>
        </Stack>
      </Paper>
      <LinkAnchor to="/reset-password" size="sm">
        {t('login.forgot')}
      </LinkAnchor>
      <Text size="sm">
        {t('login.none')}{' '}
        <LinkAnchor to="/signup" underline="always">
          {t('nav.signup')}
        </LinkAnchor>
      </Text>
    </Narrow>
  );
}
