// All suites, each with the way to its board. Open to everybody.
import { Badge, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { suitesQuery } from '~/api/queries/catalogue';
import type { Suite } from '~/api/types';
import { useWords } from '~/i18n/words';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { LinkAnchor } from '~/shell/links';
import { suiteName, suiteText } from './suiteWords';

export function BoardsPage() {
  const { t } = useWords();
  const { data, error } = useQuery(suitesQuery);
  return (
    <Stack>
      <div>
        <Title order={1}>{t('boards.title')}</Title>
        <Text c="dimmed">{t('boards.lead')}</Text>
      </div>
      <ProblemNotice problem={error} />
      {!data && !error && <Waiting />}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {data?.map((suite) => (
          <SuiteCard key={suite.slug} suite={suite} />
        ))}
      </SimpleGrid>
    </Stack>
  );
}

function SuiteCard({ suite }: { suite: Suite }) {
  const words = useWords();
  const { t, tn } = words;
  return (
    <Paper withBorder p="lg">
      <Group justify="space-between" mb="xs">
        <Badge variant="outline" color={suite.kind === 'training_throughput' ? 'pine' : 'slate'}>
          {t(`boards.kind.${suite.kind}`)}
        </Badge>
        <Text size="xs" c="dimmed" className="number">
          {tn('boards.rows', suite.rows_simulated)}
        </Text>
      </Group>
      <LinkAnchor to="/leaderboards/$slug" params={{ slug: suite.slug }} fw={650} size="lg">
        {suiteName(suite, words)}
      </LinkAnchor>
      <Text size="sm" c="dimmed" mt={4}>
        {suiteText(suite, words)}
      </Text>
    </Paper>
  );
}
