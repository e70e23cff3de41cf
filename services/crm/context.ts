import type { Database } from '@causeway/runtime';
import type { ActionRunner } from './actions/runner.ts';
import type { Tables } from './tables.ts';

export interface CrmContext {
  readonly db: Database<Tables>;
}

export interface ActionsContext extends CrmContext {
  readonly runner: ActionRunner;
  readonly random: (bytes: number) => Uint8Array;
}
