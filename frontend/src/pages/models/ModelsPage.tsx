// The reader's models: upload above, list below, then the built-in ones.
import { Badge, Button, Stack, Table, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { modelsQuery } from '~/api/queries/models';
import { useWorkplace } from '~/api/queries/session';
import type { Model } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { useTopic } from '~/live/LiveProvider';
import { EmptyState } from '~/shell/EmptyState';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { LinkAnchor } from '~/shell/links';
import { WideTable } from '~/shell/WideTable';
import { UploadBox } from './UploadBox';
import { ZooList } from './ZooList';

export function ModelsPage() {
  const { t } = useWords();
  const workplace = useWorkplace();
  return (
    <Stack gap="xl">
      <div>
        <Title order={1}>{t('models.title')}</Title>
        <Text c="dimmed">{t('models.lead')}</Text>
      </div>
      {workplace && (
        <>
          <UploadBox project={workplace.project.id} />
          <ModelList project={workplace.project.id} />
        </>
      )}
      <ZooList />
    </Stack>
  );
}

function ModelList({ project }: { project: string }) {
  const { t } = useWords();
  const client = useQueryClient();
  const list = useInfiniteQuery(modelsQuery(project));
  useTopic(`project:${project}`, (what) => {
    if (what === null || what.kind === 'model') void client.invalidateQueries({ queryKey: ['models', project] });
  });
  if (list.error) return <ProblemNotice problem={list.error} />;
  if (!list.data) return <Waiting />;
  const rows = list.data.pages.flatMap((page) => page.results);
  if (rows.length === 0) return <EmptyState text={t('models.empty')} />;
  return (
    <div>
      <WideTable minWidth={620} label={t('models.title')}>
        <Table highlightOnHover className="number">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('models.file')}</Table.Th>
              <Table.Th>{t('common.state')}</Table.Th>
              <Table.Th ta="right">{t('models.parameters')}</Table.Th>
              <Table.Th ta="right">{t('models.size')}</Table.Th>
              <Table.Th>{t('common.created')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((model) => (
              <ModelRow key={model.id} model={model} />
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      {list.hasNextPage && (
        <Button variant="default" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>
          {t('common.more')}
        </Button>
      )}
    </div>
  );
}

function ModelRow({ model }: { model: Model }) {
  const { t } = useWords();
  const format = useFormat();
  return (
    <Table.Tr>
      <Table.Td maw={320} className="long">
        <LinkAnchor to="/models/$id" params={{ id: model.id }} fw={600} lineClamp={2}>
          {model.name}
        </LinkAnchor>
      </Table.Td>
      <Table.Td>
        <ModelState state={model.state} />
      </Table.Td>
      <Table.Td ta="right">{model.summary ? format.short(model.summary.parameters) : t('common.none')}</Table.Td>
      <Table.Td ta="right">{format.bytes(model.bytes)}</Table.Td>
      <Table.Td>{format.relative(model.created_at)}</Table.Td>
    </Table.Tr>
  );
}

const COLOUR = { inspecting: 'slate', accepted: 'pine', refused: 'brick' } as const;

export function ModelState({ state }: { state: Model['state'] }) {
  const { t } = useWords();
  return (
    <Badge variant="light" color={COLOUR[state]}>
      {t(`models.state.${state}`)}
    </Badge>
  );
}
