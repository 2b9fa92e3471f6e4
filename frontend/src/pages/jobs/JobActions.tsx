// Cancel, run again, and how fresh the page is.
import { Button, Group, Text, Tooltip } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { cancelJob, rerunJob } from '~/api/queries/jobs';
import type { Job } from '~/api/types';
import { useWords } from '~/i18n/words';
import { isOver, type JobStream } from '~/live/jobStream';
import type { Follow } from '~/live/useJobStream';
import { ProblemNotice } from '~/shell/ProblemNotice';
import classes from './Job.module.css';

export function JobActions({ job, stream, follow }: { job: Job; stream: JobStream; follow: Follow }) {
  const { t } = useWords();
  const navigate = useNavigate();
  const [intention] = useState(() => crypto.randomUUID());
  const state = stream.state ?? job.state;
  const cancelling = useMutation({ mutationFn: () => cancelJob(job.id) });
  const again = useMutation({
    mutationFn: () => rerunJob(job.id, intention),
    onSuccess: (next) => navigate({ to: '/jobs/$id', params: { id: next.id } }),
  });
  const ask = () =>
    modals.openConfirmModal({
      title: t('job.cancel.title'),
      children: <Text size="sm">{t('job.cancel.text')}</Text>,
      labels: { confirm: t('job.cancel'), cancel: t('job.keep') },
      confirmProps: { color: 'brick' },
      onConfirm: () => cancelling.mutate(),
    });
  return (
    <div>
      <Group gap="sm">
        <FollowMark follow={follow} seq={stream.seq} />
        {isOver(state) ? (
          <Button variant="default" onClick={() => again.mutate()} loading={again.isPending}>
            {t('job.rerun')}
          </Button>
        ) : (
          <Button
            variant="light"
            color="brick"
            onClick={ask}
            loading={cancelling.isPending}
            disabled={state === 'cancelling'}
          >
            {t('job.cancel')}
          </Button>
        )}
      </Group>
      <ProblemNotice problem={cancelling.error ?? again.error} />
    </div>
  );
}

function FollowMark({ follow, seq }: { follow: Follow; seq: number }) {
  const { t } = useWords();
  return (
    <Tooltip label={t('job.follow.hint', { seq })}>
      <span className={classes.follow} data-follow={follow} tabIndex={0} role="status">
        <i aria-hidden="true" />
        {t(`job.follow.${follow}`)}
      </span>
    </Tooltip>
  );
}
