import type { Database } from '@causeway/runtime';
import type { ActionRunner } from './actions/runner.ts';
import type { Tables } from './tables.ts';

/** What the handlers of this service need. */
export interface CrmContext {
  readonly db: Database<Tables>;
}

/** What the handlers that write also need. */
export interface ActionsContext extends CrmContext {
  readonly runner: ActionRunner;
  /** Secure random bytes. */
  readonly random: (bytes: number) => Uint8Array;
}
