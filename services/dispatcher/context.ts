import type { WaitingEvent } from '@causeway/deliveries';
import type { Bus, Database, Log, Metrics } from '@causeway/runtime';
import type { Tables } from './tables.ts';

export interface Context {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly now: () => Date;
  readonly nowMs: () => number;
  /** For one company. */
  readonly waitingQuota: number;
  /** Called with events that are missed because of the quota. */
  readonly onMissed: (events: readonly WaitingEvent[]) => void;
  readonly log: Log;
  readonly metrics: Metrics;
}
