// Renders a component inside the providers that pages have, in a chosen language, with a socket that goes nowhere.
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { makeQueryClient } from '~/api/queryClient';
import type { Language } from '~/i18n/catalogue';
import { en } from '~/i18n/en';
import { WordsProvider } from '~/i18n/words';
import { zh } from '~/i18n/zh';
import { LiveProvider } from '~/live/LiveProvider';
import type { LiveSocket } from '~/live/socket';
import { theme, variables } from '~/theme/theme';

export function Providers({
  children,
  language = 'en',
  socket,
}: {
  children: ReactNode;
  language?: Language;
  socket?: LiveSocket;
}) {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={variables} env="test">
      <WordsProvider initial={{ language, catalogue: language === 'en' ? en : zh }}>
        <QueryClientProvider client={makeQueryClient()}>
          <LiveProvider socket={socket}>{children}</LiveProvider>
        </QueryClientProvider>
      </WordsProvider>
    </MantineProvider>
  );
}

export const show = (children: ReactNode, language: Language = 'en') =>
  render(<Providers language={language}>{children}</Providers>);
