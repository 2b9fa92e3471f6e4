// Navigation left; language, colours and account right. On narrow screens the links move into a drawer.
import { Burger, Container, Drawer, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useSession } from '~/api/queries/session';
import { useWords } from '~/i18n/words';
import { LinkButton } from '~/shell/links';
import { AccountMenu } from './AccountMenu';
import { Brand } from './Brand';
import { LanguageMenu } from './LanguageMenu';
import { ThemeToggle } from './ThemeToggle';
import classes from './Header.module.css';

const SIGNED_IN = [
  { to: '/models', key: 'nav.models' },
  { to: '/jobs', key: 'nav.jobs' },
  { to: '/pods', key: 'nav.pods' },
] as const;
const EVERYBODY = [{ to: '/leaderboards', key: 'nav.leaderboards' }] as const;

export function Header() {
  const { t } = useWords();
  const { data: session } = useSession();
  const [open, drawer] = useDisclosure(false);
  const links = [...(session?.user ? SIGNED_IN : []), ...EVERYBODY];
  const items = links.map(({ to, key }) => (
    <Link key={to} to={to} className={classes.link} activeProps={{ 'data-active': true }} onClick={drawer.close}>
      {t(key)}
    </Link>
  ));
  return (
    <header className={classes.header}>
      <Container size="xl" className={classes.bar}>
        <Brand />
        <nav aria-label={t('nav.main')} className={classes.links}>
          {items}
        </nav>
        <Group gap={4} wrap="nowrap" ml="auto">
          <LanguageMenu />
          <ThemeToggle />
          {session?.user && <AccountMenu session={session} />}
          {session && !session.user && <SignInButtons />}
          <Burger
            className={classes.burger}
            size="sm"
            opened={open}
            onClick={drawer.toggle}
            aria-label={t('nav.menu')}
          />
        </Group>
      </Container>
      <Drawer
        opened={open}
        onClose={drawer.close}
        position="right"
        size="75%"
        title={t('nav.menu')}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        <Stack component="nav" aria-label={t('nav.main')} gap={4}>
          {items}
        </Stack>
      </Drawer>
    </header>
  );
}

function SignInButtons() {
  const { t } = useWords();
  return (
    <>
      <LinkButton to="/login" variant="subtle" size="compact-sm" px="xs">
        {t('nav.login')}
      </LinkButton>
      <LinkButton to="/signup" size="compact-sm" px="sm" className={classes.signup}>
        {t('nav.signup')}
      </LinkButton>
    </>
  );
}
