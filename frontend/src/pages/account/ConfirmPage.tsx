// Where the link of the confirmation mail leads: confirms at once, then leads on.
import { Loader, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { confirmMail } from '~/api/auth';
import { useSessionChanged } from '~/api/queries/session';
import { useWords } from '~/i18n/words';
import { useLiveSocket } from '~/live/LiveProvider';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { LinkButton } from '~/shell/links';
import { Narrow } from './Narrow';

const route = getRouteApi('/confirm-email/$key');

export function ConfirmPage() {
  const { t } = useWords();
  const { key } = route.useParams();
  const navigate = useNavigate();
  const live = useLiveSocket();
  const changed = useSessionChanged();
  const confirming = useQuery({ queryKey: ['confirm', key], queryFn: () => confirmMail(key), staleTime: Infinity, retry: false });
  const outcome = confirming.data;
  useEffect(() => {
    if (!outcome) return;
    void changed().then(() => {
      live.restart();
      return outcome === 'signed_in' ? navigate({ to: '/' }) : navigate({ to: '/login', search: { confirmed: '1' } });
    });
  }, [outcome, changed, live, navigate]);
  return (
    <Narrow>
      <Title order={1}>{t('confirm.title')}</Title>
      {confirming.isError ? (
        <Stack align="flex-start">
          <ProblemNotice problem={confirming.error} title={t('confirm.failed')} />
          <LinkButton to="/login">
            {t('confirm.login')}
          </LinkButton>
        </Stack>
      ) : (
        <Loader role="status" aria-label={t('confirm.working')} />
      )}
    </Narrow>
  );
}
