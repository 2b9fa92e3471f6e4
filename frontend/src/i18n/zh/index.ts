// Simplified Chinese, with the terms of the field as Chinese IPU documentation has them.
import type { Catalogue } from '../catalogue';
import { account } from './account';
import { boards } from './boards';
import { common } from './common';
import { errors } from './errors';
import { home } from './home';
import { jobs } from './jobs';
import { launch } from './launch';
import { models, zoo } from './models';
import { organization } from './organization';
import { pods } from './pods';
import { report } from './report';
import { trust } from './trust';

export const zh: Catalogue = {
  ...common,
  ...errors,
  ...account,
  ...home,
  ...models,
  ...zoo,
  ...pods,
  ...launch,
  ...jobs,
  ...report,
  ...boards,
  ...organization,
  ...trust,
};
