// Grey lines in the place of what is being fetched.
import { Skeleton, Stack } from '@mantine/core';
import { useWords } from '~/i18n/words';

export function Waiting({ lines = 4 }: { lines?: number }) {
  const { t } = useWords();
  return (
    <Stack gap="sm" role="status" aria-label={t('common.loading')}>
      {Array.from({ length: lines }, (_, i) => (
        <Skeleton key={i} height={i === 0 ? 26 : 18} width={i === 0 ? '40%' : `${95 - ((i * 17) % 30)}%`} />
      ))}
    </Stack>
  );
}
