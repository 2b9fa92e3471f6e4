// Names of suites in the page's language, by slug; a suite we have no words for shows the server's.
import type { Suite } from '~/api/types';
import type { Words } from '~/i18n/words';

export const suiteName = (suite: Pick<Suite, 'slug' | 'name'>, { maybe }: Words) =>
  maybe(`suite.${suite.slug}.name`) ?? suite.name;
export const suiteText = (suite: Pick<Suite, 'slug' | 'description'>, { maybe }: Words) =>
  maybe(`suite.${suite.slug}.text`) ?? suite.description;
/** Units are written out in the page's language where it has its own. */
export const unitName = (unit: string, { maybe }: Words) => maybe(`unit.${unit}`) ?? unit;
