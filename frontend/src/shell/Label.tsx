// The chip that every result wears: where the number comes from.
import { Badge, Tooltip } from '@mantine/core';
import { useWords } from '~/i18n/words';

const KINDS = {
  Simulated: { color: 'brass', word: 'label.simulated', hint: 'label.simulated.hint' },
  Published: { color: 'slate', word: 'label.published', hint: 'label.published.hint' },
  'Vendor claim': { color: 'gray', word: 'label.vendor', hint: 'label.vendor.hint' },
} as const;

export type LabelKind = keyof typeof KINDS;
export const isLabelKind = (text: string): text is LabelKind => text in KINDS;

export function Label({ kind }: { kind: LabelKind }) {
  const { t } = useWords();
  const { color, word, hint } = KINDS[kind];
  return (
    <Tooltip label={t(hint)} multiline maw={280}>
      <Badge variant="light" color={color} tabIndex={0}>
        {t(word)}
      </Badge>
    </Tooltip>
  );
}
