// The words of the interface: typed keys, a catalogue for each language, and filling in of parameters. No React here.
import type { en } from './en';

export const LANGUAGES = ['en', 'zh-Hans'] as const;
export type Language = (typeof LANGUAGES)[number];
export type WordKey = keyof typeof en;
export type Catalogue = Record<WordKey, string>;
export type Params = Record<string, string | number>;

const STORED = 'podium-language';

/** The language chosen last time, else the browser's first that we have, else English. */
export function preferredLanguage(stored = readStored(), offered: readonly string[] = navigator.languages): Language {
  if (LANGUAGES.includes(stored as Language)) return stored as Language;
  for (const tag of offered) {
    if (tag.toLowerCase().startsWith('zh')) return 'zh-Hans';
    if (tag.toLowerCase().startsWith('en')) return 'en';
  }
  return 'en';
}

export function storeLanguage(language: Language): void {
  try {
    localStorage.setItem(STORED, language);
  } catch {
    // storage can be blocked; the choice then lasts as long as the page
  }
}

function readStored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

/** Only the language in use is fetched. */
export async function loadCatalogue(language: Language): Promise<Catalogue> {
  return language === 'en' ? (await import('./en')).en : (await import('./zh')).zh;
}

/** `{name}` in a text is replaced by its parameter; an unknown name stays visible, so that a mistake is seen. */
export function fill(text: string, params: Params = {}): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in params ? String(params[name]) : whole));
}

/** Names of the parameters in a text, for the test that both languages have the same. */
export function slots(text: string): string[] {
  return [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ''))].sort();
}
