import { type DeliveryQueueRow, nextDueSql } from '@causeway/proto';
import { acrossTenants, bigint, datetime, jsonTable, sqlTime } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** A queue, and when the first of its new deliveries is due. */
export type DueQueue = Pick<DeliveryQueueRow, 'company_id' | 'subscription_id'> & { readonly due_utc: Date };

/**
 * Has somebody look after these queues by then. Call it last: from here to the commit whoever takes a queue waits,
 * and so none can count the queue's deliveries without the new ones and set its time beyond them. For the same
 * reason each row is locked, also where its time stays.
 */
export const noteDue = async (db: Kysely<Tables>, queues: readonly DueQueue[]): Promise<void> => {
  if (queues.length === 0) return;
  // Always in the same order, so that two transactions wait for each other only one way.
  const rows = queues
    .toSorted((a, b) => a.company_id - b.company_id || a.subscription_id - b.subscription_id)
    .map((one) => [one.company_id, one.subscription_id, sqlTime(one.due_utc)]);
  await sql`
    INSERT INTO delivery_queues (company_id, subscription_id, next_due_utc)
    SELECT company_id, subscription_id, due_utc FROM ${jsonTable(columns, rows)} AS given
    ON DUPLICATE KEY UPDATE next_due_utc = ${sql.raw(nextDueSql('delivery_queues', 'given'))}`.execute(
    acrossTenants(db, 'each queue says its company'),
  );
};

const columns = { company_id: bigint, subscription_id: bigint, due_utc: datetime };
