import type { DeliveryState } from '@causeway/proto';
import type { Kysely } from 'kysely';
import type { QueueKey } from '../job.ts';
import type { Tables } from '../tables.ts';

/**
 * Takes waiting deliveries of a subscription out of the way: held where it is off, dropped where it is gone. Those
 * that are under way are among them; what comes of these is recorded all the same.
 * @returns whether that were all.
 */
export const putAside = async (
  db: Kysely<Tables>,
  { company_id, subscription_id }: QueueKey,
  state: Extract<DeliveryState, 'held' | 'dropped'>,
  now: Date,
): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('deliveries')
    .set({ state, due_utc: null, updated_utc: now })
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    // Of all states, only a waiting delivery has a due time; this way the index finds them.
    .where('due_utc', 'is not', null)
    .limit(chunk)
    .executeTakeFirst();
  return Number(numUpdatedRows) < chunk;
};

const chunk = 1_000;
