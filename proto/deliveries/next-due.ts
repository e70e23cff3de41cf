import { failuresUntilProbing } from './states.ts';
import { leaseMs } from './wake.ts';

/** A lease; clocks may differ by the rest. */
const guardMs = leaseMs + 5_000;

/**
 * The next time that somebody looks after a queue, given that something of it is due at `dueMs`. A failing
 * subscription's time is left alone where it may be the guard of an attempt that is under way: two would be made
 * at once. A time further away than such a guard can reach is a retry's.
 */
export const nextDueMs = (nextMs: number | null, dueMs: number, failures: number): number => {
  if (failures < failuresUntilProbing) return Math.min(nextMs ?? dueMs, dueMs);
  return nextMs !== null && nextMs <= dueMs + guardMs ? nextMs : dueMs;
};

/** The same rule in SQL, for a row of `delivery_queues` and one that brings a `due_utc`, by their names there. */
export const nextDueSql = (queue: string, given: string): string => `IF(
  ${queue}.consecutive_failures >= ${failuresUntilProbing},
  IF(${queue}.next_due_utc <= ${given}.due_utc + INTERVAL ${guardMs / 1000} SECOND, ${queue}.next_due_utc, ${given}.due_utc),
  LEAST(COALESCE(${queue}.next_due_utc, ${given}.due_utc), ${given}.due_utc))`;
