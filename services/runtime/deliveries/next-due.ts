import { failuresUntilProbing, leaseMs } from '@causeway/proto';
import { type RawBuilder, sql } from 'kysely';

/** The longest lease of a probe, plus a margin for clock differences. */
const maxProbeLeaseMs = leaseMs + 5_000;

/**
 * The next time that a dispatcher reads a queue, given that one of its deliveries is due at `dueMs`. The due time of
 * a failing subscription is kept if it may be the lease of a probe under way, because an earlier time would let
 * another dispatcher start a second probe. A due time beyond such a lease belongs to a retry.
 */
export const nextDueMs = (nextMs: number | null, dueMs: number, failures: number): number => {
  if (failures < failuresUntilProbing) return Math.min(nextMs ?? dueMs, dueMs);
  return nextMs !== null && nextMs <= dueMs + maxProbeLeaseMs ? nextMs : dueMs;
};

/** The same rule in SQL, for a row of `delivery_queues`. */
export const nextDueSql = (due: Date): RawBuilder<Date> => sql`IF(
  next_due_utc <= ${due}
    OR (consecutive_failures >= ${sql.lit(failuresUntilProbing)}
      AND next_due_utc <= ${new Date(due.getTime() + maxProbeLeaseMs)}),
  next_due_utc, ${due})`;
