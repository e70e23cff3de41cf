import type { HandlerTable } from '@causeway/runtime';
import * as actions from './actions/index.ts';
import type { ActionsContext } from './context.ts';
import * as find from './find/index.ts';
import * as lookups from './lookups/index.ts';

/** The handler of each operation that this service answers. */
export const handlers: HandlerTable<'crm', ActionsContext> = { ...lookups, ...find, ...actions };
