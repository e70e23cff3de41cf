import { bigint, datetime, jsonTable, sqlTime } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { LeasedDelivery } from '../intake/taken-events.ts';
import type { Tables } from '../tables.ts';

/**
 * Writes waiting rows for deliveries that have none yet, due when their leases end. Existing rows stay as they are. A
 * delivery without a queue gets none, because its subscription was deleted. Call it with the queues locked.
 */
export const addRows = async (
  db: Kysely<Tables>,
  deliveries: readonly Omit<LeasedDelivery, 'replay_id'>[],
  { now, holder }: { readonly now: Date; readonly holder: number | null },
): Promise<void> => {
  if (deliveries.length === 0) return;
  const rows = deliveries.map((one) => [
    one.company_id,
    one.event_id,
    one.subscription_id,
    sqlTime(one.created_utc),
    one.event_type,
    sqlTime(one.leaseMs),
  ]);
  await sql`
    INSERT INTO deliveries
      (company_id, event_id, subscription_id, created_utc, event_type, due_utc, leased_by, updated_utc)
    SELECT k.company_id, k.event_id, k.subscription_id, k.created_utc, k.event_type, k.due_utc, ${holder},
      ${now}
    FROM ${jsonTable(columns, rows)} AS k
    STRAIGHT_JOIN delivery_queues AS q
      ON q.company_id = k.company_id AND q.subscription_id = k.subscription_id
    ON DUPLICATE KEY UPDATE event_id = deliveries.event_id`.execute(db);
};

const columns = {
  company_id: bigint,
  event_id: bigint,
  subscription_id: bigint,
  created_utc: datetime,
  event_type: 'VARCHAR(50) CHARACTER SET ascii',
  due_utc: datetime,
};
