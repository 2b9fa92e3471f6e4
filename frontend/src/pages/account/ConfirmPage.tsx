// Where the link of the confirmation mail leads: confirms at once, then leads on.
import { Loader, Stack, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { confirmMail } from '~/api/auth';
import { useSessionChanged } from '~/api/queries/session';
import { useWords } from '~/i18n/words';
import { useLiveSocket } from '~/live/LiveProvider';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { LinkButton } from '~/shell/links';
import { Narrow } from './Narrow';

const route = getRouteApi('/confirm/$key');

export function ConfirmPage() {
  const { t } = useWords();
  const { key } = route.useParams();
  const navigate = useNavigate();
  const live = useLiveSocket();
  const changed = useSessionChanged();
  const confirming = useMutation({
    mutationFn: confirmMail,
    onSuccess: async (outcome) => {
      await changed();
      live.restart();
      if (outcome === 'signed_in') await navigate({ to: '/' });
      else await navigate({ to: '/login', search: { confirmed: '1' } });
    },
  });
  const { mutate } = confirming;
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current) return; // the key works once, and strict mode runs effects twice
    begun.current = true;
    mutate(key);
  }, [mutate, key]);
  return (
    <Narrow>
      <Title order={1}>{t('confirm.title')}</Title>
      {confirming.isError ? (
        <Stack align="flex-start">
          <ProblemNotice problem={confirming.error} title={t('confirm.failed')} />
          <LinkButton to="/login">{t('confirm.login')}</LinkButton>
        </Stack>
      ) : (
        <Loader role="status" aria-label={t('confirm.working')} />
      )}
    </Narrow>
  );
}
