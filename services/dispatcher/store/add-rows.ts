import { bigint, datetime, jsonTable, sqlTime } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { LeasedDelivery } from '../intake/announced.ts';
import type { Tables } from '../tables.ts';

/**
 * Writes waiting rows, under their lease, for announced deliveries that have none yet. A delivery without a queue
 * gets none, because its subscription was deleted. Call it with the queues locked.
 */
export const addRows = async (
  db: Kysely<Tables>,
  deliveries: readonly LeasedDelivery[],
  now: Date,
): Promise<void> => {
  const rows = deliveries.filter(({ announced }) => announced);
  if (rows.length === 0) return;
  const days = rows.map(({ created_utc }) => created_utc.getTime());
  // The bounds limit the partitions that MySQL reads, as in `readBodies`.
  await sql`
    INSERT INTO deliveries
      (company_id, event_id, subscription_id, created_utc, event_type, due_utc, updated_utc)
    SELECT k.company_id, k.event_id, k.subscription_id, k.created_utc, e.type, k.lease_utc, ${now}
    FROM ${table(rows)} AS k
    STRAIGHT_JOIN delivery_queues AS q
      ON q.company_id = k.company_id AND q.subscription_id = k.subscription_id
    STRAIGHT_JOIN events AS e FORCE INDEX (event_id)
      ON e.event_id = k.event_id AND e.company_id = k.company_id AND e.created_utc = k.created_utc
    WHERE e.created_utc BETWEEN ${new Date(Math.min(...days))} AND ${new Date(Math.max(...days))}
    ON DUPLICATE KEY UPDATE event_id = deliveries.event_id`.execute(db);
};

const table = (rows: readonly LeasedDelivery[]) =>
  jsonTable(
    {
      company_id: bigint,
      event_id: bigint,
      subscription_id: bigint,
      created_utc: datetime,
      lease_utc: datetime,
    },
    rows.map((row) => [
      row.company_id,
      row.event_id,
      row.subscription_id,
      sqlTime(row.created_utc),
      sqlTime(row.leaseMs),
    ]),
  );
