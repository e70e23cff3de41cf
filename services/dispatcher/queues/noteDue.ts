import { failuresUntilProbing, leaseMs } from '@causeway/proto';
import { datetime, sqlTime } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { byQueue, type QueueKey } from '../job.ts';
import { onQueue, queueTable } from '../store/keyTables.ts';
import type { Tables } from '../tables.ts';

/**
 * The next time that somebody looks after a queue, given that something of it is due at `due`. A failing
 * subscription's time is left alone where it may be the guard of an attempt that is under way: two would be made
 * at once. A time further away than such a guard can reach is a retry's.
 */
export const nextDueMs = (nextMs: number | null, dueMs: number, failures: number): number => {
  if (failures < failuresUntilProbing) return Math.min(nextMs ?? dueMs, dueMs);
  return nextMs !== null && nextMs <= dueMs + guardMs ? nextMs : dueMs;
};

/** A lease; clocks may differ by the rest. */
const guardMs = leaseMs + 5_000;

/** Has somebody look after these queues now, by the rule above. */
export const noteDue = async (db: Kysely<Tables>, keys: readonly QueueKey[], now: Date): Promise<void> => {
  if (keys.length === 0) return;
  const rows = keys.toSorted(byQueue);
  await sql`
    UPDATE ${queueTable(rows, { due_utc: datetime }, () => [sqlTime(now)])} AS k
    STRAIGHT_JOIN delivery_queues AS q ON ${onQueue}
    SET q.next_due_utc = IF(
      q.consecutive_failures >= ${failuresUntilProbing},
      IF(q.next_due_utc <= k.due_utc + INTERVAL ${guardMs / 1000} SECOND, q.next_due_utc, k.due_utc),
      LEAST(COALESCE(q.next_due_utc, k.due_utc), k.due_utc))`.execute(db);
};
