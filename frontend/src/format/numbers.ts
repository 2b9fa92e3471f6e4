// Numbers as people read them, in the language of the page. Pure functions; no words except unit symbols.
import type { Language } from '~/i18n/catalogue';

const MICRO = 1_000_000;

export function count(value: number, language: Language): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 0 }).format(value);
}

/** Three significant digits, grouped: 12.3, 4,570, 0.00123. */
export function quantity(value: number, language: Language): string {
  if (Math.abs(value) >= 1000) return count(value, language);
  return new Intl.NumberFormat(language, { maximumSignificantDigits: 3 }).format(value);
}

/** For axes: enough digits to tell neighbouring marks apart. */
export function mark(value: number, language: Language): string {
  return new Intl.NumberFormat(language, { maximumSignificantDigits: 6 }).format(value);
}

/** Credits from micro-credits; small amounts keep the digits that tell them from zero. */
export function credits(microcredits: number, language: Language): string {
  const value = microcredits / MICRO;
  const digits = value !== 0 && Math.abs(value) < 1 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 2 };
  return new Intl.NumberFormat(language, digits).format(value);
}

export function bytes(value: number, language: Language): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = value;
  let unit = 0;
  while (Math.abs(size) >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const digits = unit === 0 ? 0 : Math.abs(size) < 10 ? 2 : 1;
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(size)} ${units[unit]}`;
}

/** A span of time with the unit that suits it: 12.3 µs, 4.5 ms, 3.2 s, 5 min 20 s, 2 h 5 min. */
export function seconds(value: number, language: Language): string {
  const number = (n: number) => new Intl.NumberFormat(language, { maximumSignificantDigits: 3 }).format(n);
  const size = Math.abs(value);
  if (size === 0) return '0 s';
  if (size < 1e-6) return `${number(value * 1e9)} ns`;
  if (size < 1e-3) return `${number(value * 1e6)} µs`;
  if (size < 1) return `${number(value * 1e3)} ms`;
  if (size < 90) return `${number(value)} s`;
  const whole = Math.round(value);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(whole / 60);
  return `${count(Math.floor(minutes / 60), language)} h ${minutes % 60} min`;
}

export function percent(share: number, language: Language): string {
  const digits = share > 0 && share < 0.1 ? 1 : 0;
  return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: digits }).format(share);
}

/** Large counts shortened: 25.6 M, 1.2 k. Letters are the SI ones in both languages. */
export function short(value: number, language: Language): string {
  const number = (n: number) => new Intl.NumberFormat(language, { maximumSignificantDigits: 3 }).format(n);
  for (const [size, letter] of [
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (Math.abs(value) >= size) return `${number(value / size)} ${letter}`;
  }
  return number(value);
}
