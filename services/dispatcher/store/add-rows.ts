import { rowList } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { LeasedDelivery } from '../intake/taken-events.ts';
import { queueName } from '../job.ts';
import type { Tables } from '../tables.ts';

/**
 * Writes waiting rows for deliveries that have none yet, due when their leases end. Existing rows stay as they are. A
 * delivery without a queue gets none, because its subscription was deleted.
 * @param queues the names of the queues that exist and that this transaction has locked.
 */
export const addRows = async (
  db: Kysely<Tables>,
  deliveries: readonly Omit<LeasedDelivery, 'replay_id'>[],
  {
    queues,
    now,
    holder,
  }: {
    readonly queues: { has(name: string): boolean };
    readonly now: Date;
    readonly holder: number | null;
  },
): Promise<void> => {
  const rows = deliveries
    .filter((one) => queues.has(queueName(one)))
    .map((one) => [
      one.company_id,
      one.event_id,
      one.subscription_id,
      one.created_utc,
      one.event_type,
      new Date(one.leaseMs),
      holder,
      now,
    ]);
  if (rows.length === 0) return;
  await sql`
    INSERT INTO deliveries
      (company_id, event_id, subscription_id, created_utc, event_type, due_utc, leased_by, updated_utc)
    VALUES ${rowList(rows)}
    ON DUPLICATE KEY UPDATE event_id = deliveries.event_id`.execute(db);
};
