// Consent to show the result on a leaderboard, only where a suite's rules speak of this model and task.
import { Select, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { suitesQuery } from '~/api/queries/catalogue';
import type { RunConfig } from '~/api/types';
import { useWords } from '~/i18n/words';
import { suiteName } from '../boards/suiteWords';
import { suitesFor, withSuite, type LaunchForm } from './form';

interface Props {
  form: LaunchForm;
  onChange: (form: LaunchForm) => void;
  task: RunConfig['task'];
}

const NONE = '';

export function PublishChoice({ form, onChange, task }: Props) {
  const words = useWords();
  const { t } = words;
  const { data } = useQuery(suitesQuery);
  const suites = suitesFor(data ?? [], form.model, task);
  const chosen = suites.find((suite) => suite.slug === form.suite);
  if (suites.length === 0) return null;
  return (
    <div>
      <Select
        label={t('launch.publish')}
        description={t('launch.publish.hint')}
        data={[
          { value: NONE, label: t('launch.publish.none') },
          ...suites.map((suite) => ({ value: suite.slug, label: suiteName(suite, words) })),
        ]}
        value={form.suite ?? NONE}
        onChange={(slug) => {
          const suite = suites.find((each) => each.slug === slug);
          onChange(suite ? withSuite(form, suite) : { ...form, suite: null });
        }}
        allowDeselect={false}
      />
      {chosen && (
        <Text size="sm" c="dimmed" mt={6} lang="en">
          {chosen.rules.text}
        </Text>
      )}
    </div>
  );
}
