import { acrossTenants, datetime, sqlTime } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { byQueue, type QueueKey } from '../job.ts';
import { queueTable } from '../store/key-tables.ts';
import type { Tables } from '../tables.ts';

/**
 * Makes the missing queues of subscriptions. A subscription that was just created has none until the dispatchers learn
 * of it; a deleted one gets none.
 * @param due when a new queue is due; null if nothing waits in it.
 */
export const ensureQueues = async (
  db: Kysely<Tables>,
  keys: readonly QueueKey[],
  due: Date | null,
): Promise<void> => {
  const rows = keys.toSorted(byQueue);
  const dueText = due && sqlTime(due);
  await sql`
    INSERT INTO delivery_queues (company_id, subscription_id, next_due_utc)
    SELECT s.company_id, s.subscription_id, k.due_utc
    FROM ${queueTable(rows, { due_utc: datetime }, () => [dueText])} AS k
    STRAIGHT_JOIN subscriptions AS s
      ON s.company_id = k.company_id AND s.subscription_id = k.subscription_id
    ON DUPLICATE KEY UPDATE company_id = delivery_queues.company_id`.execute(
    acrossTenants(db, 'each queue names its company'),
  );
};
