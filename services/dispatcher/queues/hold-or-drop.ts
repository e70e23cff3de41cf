import { countHeldAfterMs, type DeliveryState } from '@causeway/proto';
import { tenantIn } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { QueueKey } from '../job.ts';
import type { Tables } from '../tables.ts';

/**
 * Holds the waiting deliveries of a disabled subscription, or drops those of a deleted one. This includes deliveries
 * with an attempt in flight, whose result is still recorded.
 * @returns whether none is left.
 */
export const holdOrDrop = async (
  db: Kysely<Tables>,
  { company_id, subscription_id }: QueueKey,
  state: Extract<DeliveryState, 'held' | 'dropped'>,
  now: Date,
): Promise<boolean> => {
  const { numAffectedRows = 0n } = await sql`
    UPDATE deliveries FORCE INDEX (by_state)
    SET state = ${state}, due_utc = NULL, updated_utc = ${now}
    WHERE company_id in ${tenantIn(company_id)} AND subscription_id = ${subscription_id}
      AND state = 'waiting'
    LIMIT ${sql.lit(chunk)}`.execute(db);
  const count = Number(numAffectedRows);
  if (state === 'held' && count > 0)
    await sql`
      UPDATE delivery_queues
      SET held_deliveries = held_deliveries + ${count},
        count_held_utc = ${new Date(now.getTime() + countHeldAfterMs)}
      WHERE company_id in ${tenantIn(company_id)} AND subscription_id = ${subscription_id}`.execute(db);
  return count < chunk;
};

const chunk = 1_000;
