// A refusal or fault told to a person: our words for a known code, else the server's; then what to quote.
import { Alert, Anchor, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Problem } from '~/api/problem';
import type { Params } from '~/i18n/catalogue';
import { useWords, type Words } from '~/i18n/words';

/** Sentences of these are better than those of the library that refuses: they say what to do. */
const OURS = /^(auth|network)\./;

/**
 * The sentence for a refusal. The portal's own is in English and names the very thing, so English pages show it; other
 * pages show the catalogue's for the code, and the portal's where there is none.
 */
export function sentenceOf(
  code: string,
  detail: string,
  params: Record<string, unknown>,
  { maybe, language }: Words,
): string {
  if (language === 'en' && detail && !OURS.test(code)) return detail;
  const shown: Params = {};
  for (const [name, value] of Object.entries(params)) {
    if (Array.isArray(value)) shown[name] = value.join(', ');
    else if (typeof value === 'string' || typeof value === 'number') shown[name] = value;
  }
  return maybe(`error.${code}`, shown) ?? (detail || code);
}

interface Props {
  problem: unknown;
  title?: string;
  children?: ReactNode;
}

export function ProblemNotice({ problem, title, children }: Props) {
  const words = useWords();
  const { t } = words;
  if (!problem) return null;
  const known = problem instanceof Problem ? problem : new Problem({ status: 0, code: 'internal' });
  return (
    <Alert color="brick" variant="light" title={title ?? t('problem.title')} role="alert" w="100%">
      <Text size="sm">{sentenceOf(known.code, known.detail, known.params, words)}</Text>
      {known.fields
        .filter((f) => f.field === '' || f.field === 'non_field_errors')
        .map((f) => (
          <Text size="sm" key={f.code + f.detail}>
            {sentenceOf(f.code, f.detail, {}, words)}
          </Text>
        ))}
      {children}
      {known.code === 'auth.required' && (
        <Anchor href="/login" target="_blank" size="sm" underline="always">
          {t('problem.login')}
        </Anchor>
      )}
      {known.status >= 500 && known.requestId && (
        <Text size="xs" c="dimmed" mt={4} className="number">
          {t('problem.request', { id: known.requestId })}
        </Text>
      )}
    </Alert>
  );
}

/** The problem of one form field, as a text for Mantine's `error`. */
export function fieldError(problem: unknown, field: string, words: Words): string | undefined {
  if (!(problem instanceof Problem)) return undefined;
  const found = problem.fields.find((f) => f.field === field || f.field === `config.${field}`);
  return found && sentenceOf(found.code, found.detail, {}, words);
}
