import type { HandlerTable } from '@causeway/runtime';
import * as audit from './audit/index.ts';
import * as catalog from './catalog/index.ts';
import * as companies from './companies/index.ts';
import type { Access } from './context.ts';
import * as keys from './keys/index.ts';
import * as limits from './limits/index.ts';
import * as sessions from './sessions/index.ts';
import * as team from './team/index.ts';
import * as usage from './usage/index.ts';

/** The handler of each operation that this service answers. */
export const handlers: HandlerTable<'access', Access> = {
  ...companies,
  ...keys,
  ...limits,
  ...sessions,
  ...team,
  ...audit,
  ...catalog,
  ...usage,
};
