// One board: simulated rows in their order, published ones apart from them; rows appear as jobs end, also signed out.
import { Group, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { boardQuery } from '~/api/queries/catalogue';
import type { Board } from '~/api/types';
import { useWords } from '~/i18n/words';
import { useTopic } from '~/live/LiveProvider';
import { EmptyState } from '~/shell/EmptyState';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { LinkButton } from '~/shell/links';
import { PublishedTable } from './PublishedTable';
import { SimulatedTable } from './SimulatedTable';
import { suiteName, suiteText, unitName } from './suiteWords';

const route = getRouteApi('/leaderboards/$slug');

export function BoardPage() {
  const { slug } = route.useParams();
  const client = useQueryClient();
  const { data: board, error } = useQuery(boardQuery(slug));
  useTopic(`board:${slug}`, () => void client.invalidateQueries({ queryKey: ['board', slug] }));
  if (error && !board) return <ProblemNotice problem={error} />;
  if (!board) return <Waiting lines={8} />;
  return <OneBoard board={board} />;
}

export function OneBoard({ board }: { board: Board }) {
  const words = useWords();
  const { t } = words;
  const suite = board.suite;
  return (
    <Stack gap="xl">
      <Group justify="space-between" align="flex-start">
        <div>
          <Text size="sm" c="dimmed">
            {t(`boards.kind.${suite.kind}`)} · {unitName(suite.unit, words)} · {t(`boards.better.${suite.better}`)}
          </Text>
          <Title order={1}>{suiteName(suite, words)}</Title>
          <Text c="dimmed">{suiteText(suite, words)}</Text>
        </div>
        <TakePart slug={suite.slug} />
      </Group>
      <section>
        <Title order={2}>{t('board.simulated')}</Title>
        <Text size="sm" c="dimmed" mb="sm">
          {t('board.simulated.lead')} {t('board.live')}
        </Text>
        {board.simulated.length ? (
          <SimulatedTable rows={board.simulated} />
        ) : (
          <EmptyState text={t('board.empty')}>{<TakePart slug={suite.slug} />}</EmptyState>
        )}
      </section>
      <section>
        <Title order={2}>{t('board.published')}</Title>
        <Text size="sm" c="dimmed" mb="sm">
          {t('board.published.lead')}
        </Text>
        {board.published.length ? (
          <PublishedTable rows={board.published} />
        ) : (
          <EmptyState text={t('board.published.empty')} />
        )}
      </section>
      <details>
        <Text component="summary" fw={600} style={{ cursor: 'pointer' }}>
          {t('board.rules', { version: board.version })}
        </Text>
        <Text mt="xs" maw={760} lang="en">
          {suite.rules.text}
        </Text>
      </details>
    </Stack>
  );
}

function TakePart({ slug }: { slug: string }) {
  const { t } = useWords();
  return (
    <LinkButton to="/launch" search={{ suite: slug }} variant="light">
      {t('board.take_part')}
    </LinkButton>
  );
}
