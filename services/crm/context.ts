import type { Database, Gate, Log, Once } from '@causeway/runtime';
import type { ActionRunner } from './actions/runner.ts';
import type { EventLog } from './events/event-log.ts';
import type { LookupCache } from './lookup-cache.ts';
import type { Tables } from './tables.ts';

export interface CrmContext {
  readonly db: Database<Tables>;
}

export interface LookupContext extends CrmContext {
  readonly lookupCache: LookupCache;
}

export interface ActionsContext extends LookupContext {
  readonly runner: ActionRunner;
  readonly once: Once<Tables>;
  readonly events: EventLog;
  readonly now: () => Date;
  readonly log: Log;
  /** For the chunks of all batches of the process. */
  readonly batchGate: Gate;
  readonly random: (bytes: number) => Uint8Array;
}
