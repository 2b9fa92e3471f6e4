// The formatting functions bound to the language of the page.
import { useMemo } from 'react';
import { useWords } from '~/i18n/words';
import * as numbers from './numbers';
import * as times from './times';

export function useFormat() {
  const { language } = useWords();
  return useMemo(
    () => ({
      count: (value: number) => numbers.count(value, language),
      quantity: (value: number) => numbers.quantity(value, language),
      mark: (value: number) => numbers.mark(value, language),
      credits: (value: number) => numbers.credits(value, language),
      bytes: (value: number) => numbers.bytes(value, language),
      seconds: (value: number) => numbers.seconds(value, language),
      percent: (value: number) => numbers.percent(value, language),
      short: (value: number) => numbers.short(value, language),
      dateTime: (iso: string, zone?: string) => times.dateTime(iso, language, zone),
      clock: (iso: string, zone?: string) => times.clock(iso, language, zone),
      day: (date: Date, zone?: string) => times.day(date, language, zone),
      relative: (iso: string) => times.relative(iso, language),
    }),
    [language],
  );
}
export type Format = ReturnType<typeof useFormat>;
