// The start of a slice as it is typed. A date that is only half typed (the year 0002 on its way to 2026) stays in the
// field and is told to nobody: what the page answers would overwrite what the reader is typing.
import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { instantOf, localOf } from '~/format/times';
import { useWords } from '~/i18n/words';

const EARLIEST = '2000-01-01T00:00';
const LATEST = '2999-12-31T23:59';

interface Props {
  start: Date;
  zone: string;
  onStart: (start: Date) => void;
}

export function StartField({ start, zone, onStart }: Props) {
  const { t } = useWords();
  const [typed, setTyped] = useState<string | null>(null);
  const type = (value: string) => {
    setTyped(value);
    if (value >= EARLIEST && value <= LATEST) onStart(instantOf(value, zone));
  };
  return (
    <TextInput
      type="datetime-local"
      label={t('reserve.start')}
      required
      step={60}
      min={EARLIEST}
      max={LATEST}
      value={typed ?? localOf(start, zone)}
      onChange={(event) => type(event.currentTarget.value)}
      onBlur={() => setTyped(null)}
    />
  );
}
