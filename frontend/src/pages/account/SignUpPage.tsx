// Making an account. Afterwards the address has to be confirmed; an installation without mail shows its outbox.
import { Button, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { signUp } from '~/api/auth';
import { useSession, useSessionChanged } from '~/api/queries/session';
import { useWords } from '~/i18n/words';
import { fieldError, ProblemNotice } from '~/shell/ProblemNotice';
import { LinkAnchor, LinkButton } from '~/shell/links';
import { Narrow } from './Narrow';

export function SignUpPage() {
  const words = useWords();
  const { t } = words;
  const navigate = useNavigate();
  const changed = useSessionChanged();
  const [form, setForm] = useState({ name: '', email: '', password: '' });
  const signing = useMutation({
    mutationFn: () => signUp(form.email, form.password, form.name),
    onSuccess: async (outcome) => {
      await changed();
      if (outcome === 'signed_in') await navigate({ to: '/' });
    },
  });
  const set = (field: keyof typeof form) => (event: { currentTarget: { value: string } }) =>
    setForm({ ...form, [field]: event.currentTarget.value });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signing.mutate();
  };
  if (signing.data === 'confirm_mail') return <MailSent email={form.email} />;
  const named = ['email', 'password', 'name'].some((field) => fieldError(signing.error, field, words));
  return (
    <Narrow>
      <Title order={1}>{t('signup.title')}</Title>
      <Text c="dimmed">{t('signup.lead')}</Text>
      <Paper component="form" onSubmit={submit} withBorder p="lg">
        <Stack>
          {!named && <ProblemNotice problem={signing.error} />}
          <TextInput
            label={t('field.person')}
            autoComplete="name"
            value={form.name}
            onChange={set('name')}
            error={fieldError(signing.error, 'name', words)}
          />
          <TextInput
            label={t('field.email')}
            type="email"
            name="email"
            required
            autoComplete="email"
            value={form.email}
            onChange={set('email')}
            error={fieldError(signing.error, 'email', words)}
          />
          <PasswordInput
            label={t('field.password')}
            description={t('field.password.hint')}
            name="password"
            required
            minLength={8}
            autoComplete="new-password"
            value={form.password}
            onChange={set('password')}
            error={fieldError(signing.error, 'password', words)}
          />
          <Button type="submit" loading={signing.isPending}>
            {t('signup.submit')}
          </Button>
        </Stack>
      </Paper>
      <Text size="sm">
        {t('signup.have')}{' '}
        <LinkAnchor to="/login" underline="always">
          {t('nav.login')}
        </LinkAnchor>
      </Text>
    </Narrow>
  );
}

export function MailSent({ email }: { email: string }) {
  const { t } = useWords();
  const { data: session } = useSession();
  return (
    <Narrow>
      <Title order={1}>{t('confirm.sent.title')}</Title>
      <Text>{t('confirm.sent.text', { email })}</Text>
      {session?.outbox && (
        <>
          <Text c="dimmed">{t('confirm.sent.outbox')}</Text>
          <LinkButton to="/outbox">{t('confirm.sent.open')}</LinkButton>
        </>
      )}
    </Narrow>
  );
}
