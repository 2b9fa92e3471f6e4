// One model: what the inspection found, or why it was refused.
import { Alert, Button, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { deleteModel, modelQuery } from '~/api/queries/models';
import type { Model } from '~/api/types';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { useTopic } from '~/live/LiveProvider';
import { ProblemNotice, sentenceOf } from '~/shell/ProblemNotice';
import { Waiting } from '~/shell/Waiting';
import { LinkButton } from '~/shell/links';
import { ModelState } from './ModelsPage';
import { Operators } from './Operators';
import { Summary, Tensors } from './Summary';

const route = getRouteApi('/private/models/$id');

export function ModelPage() {
  const { id } = route.useParams();
  const client = useQueryClient();
  const { data: model, error } = useQuery(modelQuery(id));
  useTopic(model ? `project:${model.project_id}` : null, (what) => {
    if (what === null || what.id === id) void client.invalidateQueries({ queryKey: ['model', id] });
  });
  if (error) return <ProblemNotice problem={error} />;
  if (!model) return <Waiting lines={8} />;
  return (
    <Stack gap="lg">
      <Heading model={model} />
      {model.state === 'inspecting' && <Inspecting />}
      {model.state === 'refused' && <Refused model={model} />}
      {model.summary && (
        <>
          <Unsupported model={model} />
          <Summary model={model} summary={model.summary} />
          <Tensors summary={model.summary} />
          <Operators operators={model.summary.operators} />
        </>
      )}
    </Stack>
  );
}

function Heading({ model }: { model: Model }) {
  const { t } = useWords();
  const format = useFormat();
  const navigate = useNavigate();
  const client = useQueryClient();
  const removal = useMutation({
    mutationFn: () => deleteModel(model.id),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['models'] });
      await navigate({ to: '/models' });
    },
  });
  const ask = () =>
    modals.openConfirmModal({
      title: t('models.delete.title', { name: model.name }),
      children: <Text size="sm">{t('models.delete.text')}</Text>,
      labels: { confirm: t('common.delete'), cancel: t('common.cancel') },
      confirmProps: { color: 'brick' },
      onConfirm: () => removal.mutate(),
    });
  return (
    <Stack gap="xs">
      <Group justify="space-between" align="flex-start">
        <div>
          <Group gap="sm">
            <Title order={1}>{model.name}</Title>
            <ModelState state={model.state} />
          </Group>
          <Text c="dimmed" size="sm" className="number">
            {format.bytes(model.bytes)} · {format.dateTime(model.created_at)} ·{' '}
            {t('common.by', { name: model.created_by.name })}
          </Text>
        </div>
        <Group gap="xs">
          {model.state === 'accepted' && (
            <LinkButton to="/launch" search={{ model: model.id }}>
              {t('models.launch')}
            </LinkButton>
          )}
          <Button component="a" href={`/api/v1/models/${model.id}/file`} variant="default">
            {t('models.download')}
          </Button>
          <Button variant="subtle" color="brick" onClick={ask} loading={removal.isPending}>
            {t('common.delete')}
          </Button>
        </Group>
      </Group>
      <ProblemNotice problem={removal.error} />
    </Stack>
  );
}

function Inspecting() {
  const { t } = useWords();
  return (
    <Alert color="slate" role="status" icon={<Loader size="sm" color="slate" />}>
      {t('models.inspecting')}
    </Alert>
  );
}

/** The engine's own sentence names the very tensor or operator, so it is shown below ours. */
function Refused({ model }: { model: Model }) {
  const words = useWords();
  const refusal = model.refusal;
  if (!refusal) return null;
  const sentence = sentenceOf(refusal.code, refusal.detail, refusal.params, words);
  return (
    <Alert color="brick" title={words.t('models.refused.title')} role="alert">
      <Text>{sentence}</Text>
      {refusal.detail && refusal.detail !== sentence && (
        <Text size="sm" lang="en" mt={4}>
          {refusal.detail}
        </Text>
      )}
      <Text size="xs" mt={6} ff="monospace">
        {refusal.code}
      </Text>
    </Alert>
  );
}

function Unsupported({ model }: { model: Model }) {
  const { t } = useWords();
  const unsupported = model.summary?.unsupported ?? [];
  if (unsupported.length === 0) return null;
  return (
    <Alert color="brick" title={t('models.unsupported.title')}>
      <ul style={{ margin: 0, paddingInlineStart: 18 }}>
        {unsupported.map((row) => (
          <li key={row.domain + row.op}>
            {t('models.unsupported.where', { op: `${row.op} × ${row.count}`, nodes: row.nodes.join(', ') })}
          </li>
        ))}
      </ul>
    </Alert>
  );
}
