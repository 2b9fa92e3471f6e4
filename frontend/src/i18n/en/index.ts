// English. Every key of the interface is defined by these files; the other catalogues must have the same.
import { account } from './account';
import { common } from './common';
import { errors } from './errors';
import { home } from './home';

export const en = { ...common, ...errors, ...account, ...home };
