// Navigation left; language, colours and account right. On narrow screens the links move into a drawer.
import { Button, Container, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useSession } from '~/api/queries/session';
import { useWords } from '~/i18n/words';
import { AccountMenu } from './AccountMenu';
import { Brand } from './Brand';
import { LanguageMenu } from './LanguageMenu';
import { ThemeToggle } from './ThemeToggle';
import classes from './Header.module.css';

export function Header() {
  const { data: session } = useSession();
  return (
    <header className={classes.header}>
      <Container size="xl" className={classes.bar}>
        <Brand />
        <Group gap={4} wrap="nowrap" ml="auto">
          <LanguageMenu />
          <ThemeToggle />
          {session?.user && <AccountMenu session={session} />}
          {session && !session.user && <SignInButtons />}
        </Group>
      </Container>
    </header>
  );
}

function SignInButtons() {
  const { t } = useWords();
  return (
    <>
      <Button component={Link} to="/login" variant="subtle" size="compact-sm" px="xs">
        {t('nav.login')}
      </Button>
      <Button component={Link} to="/signup" size="compact-sm" px="sm" className={classes.signup}>
        {t('nav.signup')}
      </Button>
    </>
  );
}
