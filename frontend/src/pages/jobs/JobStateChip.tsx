// A job's state: colour and word, never colour alone.
import { Badge } from '@mantine/core';
import type { JobState } from '~/api/types';
import { useWords } from '~/i18n/words';

const COLOUR: Record<JobState, string> = {
  queued: 'gray',
  allocating: 'gray',
  compiling: 'slate',
  running: 'pine',
  cancelling: 'brass',
  succeeded: 'pine',
  failed: 'brick',
  cancelled: 'gray',
  timed_out: 'brick',
};

export function JobStateChip({ state }: { state: JobState }) {
  const { t } = useWords();
  return (
    <Badge variant="light" color={COLOUR[state]} data-state={state}>
      {t(`state.${state}`)}
    </Badge>
  );
}
