// Which model, and what to do with it.
import { Input, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import type { Model, RunConfig, ZooModel } from '~/api/types';
import { useWords } from '~/i18n/words';
import { zooName } from '../models/modelWords';
import { withModel, type Chosen, type LaunchForm } from './form';

interface Props {
  form: LaunchForm;
  onChange: (form: LaunchForm) => void;
  models: Model[];
  zoo: ZooModel[];
  chosen: Chosen | null;
}

export function ModelChoice({ form, onChange, models, zoo, chosen }: Props) {
  const words = useWords();
  const { t } = words;
  const own = models
    .filter((model) => model.state === 'accepted')
    .map((model) => ({ value: model.id, label: model.name }));
  const built = zoo.map((model) => ({ value: model.id, label: zooName(model, words) }));
  const groups = [
    ...(own.length ? [{ group: t('launch.model.own'), items: own }] : []),
    { group: t('launch.model.zoo'), items: built },
  ];
  const inferOnly = chosen !== null && !chosen.trainable;
  return (
    <Stack>
      <Select
        label={t('launch.model')}
        placeholder={t('launch.model.none')}
        data={groups}
        value={form.model}
        onChange={(model) => onChange(withModel(form, model))}
        searchable
        allowDeselect={false}
      />
      <Input.Wrapper label={t('launch.task')} labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label={t('launch.task')}
          value={inferOnly ? 'infer' : form.config.task}
          onChange={(task) =>
            onChange({ ...form, suite: null, config: { ...form.config, task: task as RunConfig['task'] } })
          }
          data={[
            { value: 'train', label: t('task.train'), disabled: inferOnly },
            { value: 'infer', label: t('task.infer') },
          ]}
        />
        {inferOnly && (
          <Text size="sm" c="dimmed" mt={4}>
            {t('launch.task.infer_only')}
          </Text>
        )}
      </Input.Wrapper>
    </Stack>
  );
}
