import type { DeliveryQueueRow } from '@causeway/proto';
import { acrossTenants, bigint, datetime, jsonTable, nextDueSql, sqlTime } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** A queue and the time when the first of its new deliveries is due. */
export type DueQueue = Pick<DeliveryQueueRow, 'company_id' | 'subscription_id'> & { readonly due_utc: Date };

/**
 * Moves each queue's next due time forward if its new deliveries are due earlier. Call it last: it locks each queue
 * until the commit, even if its time stays, so that no dispatcher sets the time without seeing the new deliveries.
 */
export const makeQueuesDue = async (db: Kysely<Tables>, queues: readonly DueQueue[]): Promise<void> => {
  if (queues.length === 0) return;
  // Every transaction locks in this order, so that none deadlock.
  const rows = queues
    .toSorted((a, b) => a.company_id - b.company_id || a.subscription_id - b.subscription_id)
    .map((one) => [one.company_id, one.subscription_id, sqlTime(one.due_utc)]);
  await sql`
    INSERT INTO delivery_queues (company_id, subscription_id, next_due_utc)
    SELECT company_id, subscription_id, due_utc FROM ${jsonTable(columns, rows)} AS given
    ON DUPLICATE KEY UPDATE next_due_utc = ${sql.raw(nextDueSql('delivery_queues', 'given'))}`.execute(
    acrossTenants(db, 'each queue names its company'),
  );
};

const columns = { company_id: bigint, subscription_id: bigint, due_utc: datetime };
