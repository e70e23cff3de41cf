import type { DeliveryState } from '@causeway/proto';
import { tenantIs } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { QueueKey } from '../job.ts';
import type { Tables } from '../tables.ts';
import { addHeld } from './held-count.ts';

/**
 * Holds the waiting deliveries of a disabled subscription, or drops those of a deleted one. This includes deliveries
 * with an attempt in flight, whose result is still recorded.
 * @param until only deliveries of events until then.
 * @returns whether none is left.
 */
export const holdOrDrop = async (
  db: Kysely<Tables>,
  { company_id, subscription_id }: QueueKey,
  state: Extract<DeliveryState, 'held' | 'dropped'>,
  now: Date,
  until: Date | null = null,
): Promise<boolean> => {
  const { numAffectedRows = 0n } = await sql`
    UPDATE deliveries FORCE INDEX (by_state)
    SET state = ${state}, due_utc = NULL, updated_utc = ${now}
    WHERE company_id = ${tenantIs(company_id)} AND subscription_id = ${subscription_id}
      AND state = 'waiting' ${until ? sql`AND created_utc <= ${until}` : sql``}
    LIMIT ${sql.lit(chunk)}`.execute(db);
  const count = Number(numAffectedRows);
  if (state === 'held') await addHeld(db, { company_id, subscription_id }, count, now);
  return count < chunk;
};

const chunk = 1_000;
