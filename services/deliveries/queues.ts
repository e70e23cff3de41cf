import { failuresUntilProbing } from '@causeway/proto';
import { acrossTenants, rowList } from '@causeway/runtime';
import { type Kysely, type RawBuilder, sql } from 'kysely';

export interface QueueDue {
  readonly nextMs: number | null;
  readonly probeMs: number | null;
  readonly failures: number;
}

/**
 * When a dispatcher next reads a queue with a delivery due at `dueMs`: while the queue fails, at the next
 * probe.
 */
export const nextDueMs = ({ nextMs, probeMs, failures }: QueueDue, dueMs: number): number => {
  const openMs = failures < failuresUntilProbing ? dueMs : Math.max(dueMs, probeMs ?? dueMs);
  return Math.min(nextMs ?? openMs, openMs);
};

/** `nextDueMs` in SQL, for a row of `delivery_queues`. */
export const nextDueSql = (due: Date): RawBuilder<Date> => sql`CASE
  WHEN next_due_utc <= ${due} THEN next_due_utc
  WHEN consecutive_failures >= ${sql.lit(failuresUntilProbing)} AND probe_due_utc > ${due}
    THEN IF(next_due_utc <= probe_due_utc, next_due_utc, probe_due_utc)
  ELSE ${due} END`;

/**
 * Each transaction that changes a subscription calls this, best last: events of the company wait until the
 * commit, and carry the new version after it.
 */
export const raiseSubscriptionsVersion = async <DB>(
  db: Kysely<DB>,
  companyIds: readonly number[],
): Promise<void> => {
  if (companyIds.length === 0) return;
  // In the order of the key, as events take their numbers, so that no two transactions deadlock.
  const rows = [...new Set(companyIds)].sort((a, b) => a - b).map((id) => [id, 0, 1]);
  await sql`
    INSERT INTO event_sequences (company_id, last_sequence, subscriptions_version)
    VALUES ${rowList(rows)}
    ON DUPLICATE KEY UPDATE subscriptions_version = event_sequences.subscriptions_version + 1`.execute(
    acrossTenants(db, 'each version names its company'),
  );
};
