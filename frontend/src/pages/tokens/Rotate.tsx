// Rotating a token: a successor with the same rights, while the old one lives a little longer.
import { Button, Modal, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { rotateToken } from '~/api/queries/trust';
import type { Token } from '~/api/types';
import { useWords } from '~/i18n/words';
import { ProblemNotice } from '~/shell/ProblemNotice';
import { Secret } from './NewToken';

const HOURS = [0, 1, 24, 168] as const;

export function Rotate({ token }: { token: Token }) {
  const { t } = useWords();
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const [hours, setHours] = useState(24);
  const rotating = useMutation({ mutationFn: () => rotateToken(token.id, hours) });
  const close = () => {
    setOpen(false);
    void client.invalidateQueries({ queryKey: ['tokens'] });
  };
  return (
    <>
      <Button size="compact-sm" variant="subtle" onClick={() => setOpen(true)}>
        {t('tokens.rotate')}
      </Button>
      <Modal
        opened={open}
        onClose={close}
        size="lg"
        title={rotating.data ? t('tokens.once.title') : t('tokens.rotate.title', { name: token.name })}
        closeOnClickOutside={!rotating.data}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        {rotating.data ? (
          <Secret secret={rotating.data.token} onClose={close} />
        ) : (
          <Stack>
            <Text size="sm">{t('tokens.rotate.text')}</Text>
            <NativeSelect
              aria-label={t('tokens.rotate.text')}
              value={String(hours)}
              onChange={(event) => setHours(Number(event.currentTarget.value))}
              data={HOURS.map((n) => ({ value: String(n), label: t('tokens.hours', { n }) }))}
            />
            <ProblemNotice problem={rotating.error} />
            <Button onClick={() => rotating.mutate()} loading={rotating.isPending}>
              {t('tokens.rotate')}
            </Button>
          </Stack>
        )}
      </Modal>
    </>
  );
}
