// Whose session this is, their credits, and the pages about the account.
import { ActionIcon, Menu, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useLogOut, useWorkplace } from '~/api/queries/session';
import type { Session } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { useLiveSocket } from '~/live/LiveProvider';
import { IconUser } from './icons';

export function AccountMenu({ session }: { session: Session }) {
  const { t } = useWords();
  const format = useFormat();
  const navigate = useNavigate();
  const live = useLiveSocket();
  const logOut = useLogOut();
  const workplace = useWorkplace();
  const leave = async () => {
    await logOut();
    live.restart();
    await navigate({ to: '/' });
  };
  return (
    <Menu position="bottom-end" withArrow width={250}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('nav.account')} title={t('nav.account')}>
          <IconUser />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} truncate>
            {session.user?.name || session.user?.email}
          </Text>
          {workplace && (
            <Text size="xs" className="number">
              {t('nav.balance', { credits: format.credits(workplace.organization.balance_microcredits) })}
            </Text>
          )}
        </Menu.Label>
        <Menu.Item onClick={() => void navigate({ to: '/organization' })}>{t('nav.organization')}</Menu.Item>
        <Menu.Item onClick={() => void navigate({ to: '/tokens' })}>{t('nav.tokens')}</Menu.Item>
        <Menu.Item onClick={() => void navigate({ to: '/audit' })}>{t('nav.audit')}</Menu.Item>
        <Menu.Item component="a" href="/api/docs">
          {t('nav.api')}
        </Menu.Item>
        {session.outbox && <Menu.Item onClick={() => void navigate({ to: '/outbox' })}>{t('nav.outbox')}</Menu.Item>}
        <Menu.Divider />
        <Menu.Item onClick={() => void leave()}>{t('nav.logout')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
