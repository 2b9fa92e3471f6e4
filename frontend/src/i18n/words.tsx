// Gives components the words of the chosen language: `const { t, language } = useWords()`.
import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import {
  fill,
  loadCatalogue,
  storeLanguage,
  type Catalogue,
  type Language,
  type Params,
  type WordKey,
} from './catalogue';

/** Keys that come in two forms, `name.one` and `name.other`. */
export type PluralKey = {
  [K in WordKey]: K extends `${infer Stem}.other` ? (`${Stem}.one` extends WordKey ? Stem : never) : never;
}[WordKey];

export interface Words {
  language: Language;
  setLanguage: (language: Language) => void;
  t: (key: WordKey, params?: Params) => string;
  /** The form for a count; `{n}` is the count. */
  tn: (stem: PluralKey, n: number, params?: Params) => string;
  /** For keys made from a code of the server: undefined when we have no words for it. */
  maybe: (key: string, params?: Params) => string | undefined;
}

const Context = createContext<Words | null>(null);

interface Props {
  initial: { language: Language; catalogue: Catalogue };
  children: ReactNode;
}

export function WordsProvider({ initial, children }: Props) {
  const [current, setCurrent] = useState(initial);
  const setLanguage = useCallback((language: Language) => {
    void loadCatalogue(language).then((catalogue) => {
      document.documentElement.lang = language;
      storeLanguage(language);
      setCurrent({ language, catalogue });
    });
  }, []);
  const words = useMemo(() => makeWords(current.language, current.catalogue, setLanguage), [current, setLanguage]);
  return <Context.Provider value={words}>{children}</Context.Provider>;
}

export function makeWords(language: Language, catalogue: Catalogue, setLanguage: Words['setLanguage']): Words {
  const rules = new Intl.PluralRules(language);
  const number = new Intl.NumberFormat(language);
  const lookup = (key: string): string | undefined =>
    Object.hasOwn(catalogue, key) ? catalogue[key as WordKey] : undefined;
  return {
    language,
    setLanguage,
    t: (key, params) => fill(catalogue[key], params),
    tn: (stem, n, params) => {
      const form = rules.select(n) === 'one' ? 'one' : 'other';
      return fill(catalogue[`${stem}.${form}` as WordKey], { n: number.format(n), ...params });
    },
    maybe: (key, params) => {
      const text = lookup(key);
      return text === undefined ? undefined : fill(text, params);
    },
  };
}

export function useWords(): Words {
  const words = useContext(Context);
  if (!words) throw new Error('WordsProvider is missing above this component');
  return words;
}
