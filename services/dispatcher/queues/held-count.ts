import { countHeldAfterMs } from '@causeway/proto';
import { tenantIn } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { QueueKey } from '../job.ts';
import type { Tables } from '../tables.ts';

/**
 * Adds to the count of a subscription's held deliveries, in the transaction that changes their rows.
 * @param by negative if deliveries are no longer held.
 */
export const addHeld = async (
  db: Kysely<Tables>,
  { company_id, subscription_id }: QueueKey,
  by: number,
  now: Date,
): Promise<void> => {
  if (by === 0) return;
  await sql`
    UPDATE delivery_queues
    SET held_deliveries = GREATEST(CAST(held_deliveries AS SIGNED) + ${by}, 0),
      count_held_utc = ${new Date(now.getTime() + countHeldAfterMs)}
    WHERE company_id in ${tenantIn(company_id)} AND subscription_id = ${subscription_id}`.execute(db);
};
