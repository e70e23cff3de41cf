import type { DeliveryRow } from '@causeway/proto';
import { acrossTenants, bigint, datetime, jsonTable, sqlTime } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** A delivery that waits until it is due. */
export type NewDelivery = Pick<
  DeliveryRow,
  'company_id' | 'event_id' | 'subscription_id' | 'replay_id' | 'created_utc' | 'event_type'
> & { readonly due_utc: Date };

/** Inserts deliveries in one statement. Existing ones stay as they are. */
export const addDeliveries = async (
  db: Kysely<Tables>,
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<void> => {
  if (deliveries.length === 0) return;
  const rows = deliveries.map((one) => [
    one.company_id,
    one.event_id,
    one.subscription_id,
    one.replay_id,
    sqlTime(one.created_utc),
    one.event_type,
    sqlTime(one.due_utc),
  ]);
  await sql`
    INSERT INTO deliveries
      (company_id, event_id, subscription_id, replay_id, created_utc, event_type, due_utc, updated_utc)
    SELECT company_id, event_id, subscription_id, replay_id, created_utc, event_type, due_utc, ${now}
    FROM ${jsonTable(columns, rows)} AS given
    ON DUPLICATE KEY UPDATE event_id = deliveries.event_id`.execute(
    acrossTenants(db, 'each new delivery names its company'),
  );
};

const columns = {
  company_id: bigint,
  event_id: bigint,
  subscription_id: bigint,
  replay_id: bigint,
  created_utc: datetime,
  event_type: 'VARCHAR(50)',
  due_utc: datetime,
};
