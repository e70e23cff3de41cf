import { acrossTenants } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { QueueKey } from '../job.ts';
import { isOneOfQueues } from '../store/keys.ts';
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
  await sql`
    INSERT INTO delivery_queues (company_id, subscription_id, next_due_utc)
    SELECT company_id, subscription_id, ${due} FROM subscriptions FORCE INDEX (PRIMARY)
    WHERE ${isOneOfQueues(keys)}
    ON DUPLICATE KEY UPDATE subscription_id = delivery_queues.subscription_id`.execute(
    acrossTenants(db, 'each queue names its company'),
  );
};
