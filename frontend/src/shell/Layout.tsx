// The frame of every page: skip link, header, content, footer.
import { Anchor, Container, Text } from '@mantine/core';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useSession } from '~/api/queries/session';
import { useWords } from '~/i18n/words';
import { Header } from './Header';
import classes from './Layout.module.css';

export function Layout() {
  const { t } = useWords();
  const { data: session } = useSession();
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <div className={classes.page}>
      <Anchor href="#content" className={classes.skip}>
        {t('nav.skip')}
      </Anchor>
      <Header />
      <main id="content" tabIndex={-1} className={classes.main}>
        <Container size="xl" key={path.split('/')[1]}>
          <Outlet />
        </Container>
      </main>
      <footer className={classes.footer}>
        <Container size="xl" className={classes.footerLine}>
          <Text size="xs" c="dimmed">
            {t('footer.honest')}
          </Text>
          {session && (
            <Text size="xs" c="dimmed" className="number">
              {t('footer.engine', { release: session.engine_release })}
            </Text>
          )}
        </Container>
      </footer>
    </div>
  );
}
