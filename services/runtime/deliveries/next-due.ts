import { failuresUntilProbing, leaseMs } from '@causeway/proto';

/** A lease plus a margin for clock differences. */
const guardMs = leaseMs + 5_000;

/**
 * The next time that a dispatcher looks at a queue, given that one of its deliveries is due at `dueMs`. The time of a
 * failing subscription stays if it may guard a probe under way: another dispatcher would make a second one. A time
 * further away than such a guard can reach belongs to a retry.
 */
export const nextDueMs = (nextMs: number | null, dueMs: number, failures: number): number => {
  if (failures < failuresUntilProbing) return Math.min(nextMs ?? dueMs, dueMs);
  return nextMs !== null && nextMs <= dueMs + guardMs ? nextMs : dueMs;
};

/** The same rule in SQL, for the aliases of a row of `delivery_queues` and of one with a `due_utc`. */
export const nextDueSql = (queue: string, given: string): string => `IF(
  ${queue}.consecutive_failures >= ${failuresUntilProbing},
  IF(${queue}.next_due_utc <= ${given}.due_utc + INTERVAL ${guardMs / 1000} SECOND, ${queue}.next_due_utc, ${given}.due_utc),
  LEAST(COALESCE(${queue}.next_due_utc, ${given}.due_utc), ${given}.due_utc))`;
