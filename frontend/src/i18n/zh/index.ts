// Simplified Chinese, with the terms of the field as Chinese IPU documentation has them.
import type { Catalogue } from '../catalogue';
import { account } from './account';
import { common } from './common';
import { errors } from './errors';
import { home } from './home';

export const zh: Catalogue = { ...common, ...errors, ...account, ...home };
