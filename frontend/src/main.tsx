// Starts the page: fetches the words of the chosen language, then renders the router inside its providers.
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './theme/global.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { loadCatalogue, preferredLanguage } from './i18n/catalogue';
import { WordsProvider } from './i18n/words';
import { makeQueryClient } from './api/queryClient';
import { LiveProvider } from './live/LiveProvider';
import { makeRouter } from './router';
import { theme, variables } from './theme/theme';

const RELOADED = 'podium-reloaded';
const RELOAD_AGAIN_AFTER = 60_000;
const schemes = localStorageColorSchemeManager({ key: 'podium-scheme' });

async function start(root: HTMLElement): Promise<void> {
  const language = preferredLanguage();
  document.documentElement.lang = language;
  const catalogue = await loadCatalogue(language);
  const client = makeQueryClient();
  const router = makeRouter(client);
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={variables}
        colorSchemeManager={schemes}
        defaultColorScheme="auto"
      >
        <WordsProvider initial={{ language, catalogue }}>
          <QueryClientProvider client={client}>
            <LiveProvider>
              <ModalsProvider>
                <Notifications position="bottom-right" />
                <RouterProvider router={router} />
              </ModalsProvider>
            </LiveProvider>
          </QueryClientProvider>
        </WordsProvider>
      </MantineProvider>
    </StrictMode>,
  );
}

/** After an update the files of the former build are gone: a page that misses one is loaded anew, once. */
function reloadAfterUpdate(): void {
  window.addEventListener('vite:preloadError', () => {
    const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
    if (Date.now() - last < RELOAD_AGAIN_AFTER) return;
    sessionStorage.setItem(RELOADED, String(Date.now()));
    window.location.reload();
  });
}

const root = document.getElementById('root');
reloadAfterUpdate();
if (root) void start(root);
