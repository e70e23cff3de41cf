import type { DeliveryKey } from '@causeway/proto';
import { type Kysely, sql } from 'kysely';
import { deliveryName } from '../job.ts';
import type { Tables } from '../tables.ts';
import { isOneOfDeliveries } from './keys.ts';

/** The deliveries that have no row. Waits for rows that other transactions are writing. */
export const withoutRows = async <Delivery extends DeliveryKey>(
  db: Kysely<Tables>,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> => {
  if (deliveries.length === 0) return deliveries;
  const { rows } = await sql<DeliveryKey>`
    SELECT company_id, event_id, subscription_id, replay_id FROM deliveries FORCE INDEX (PRIMARY)
    WHERE ${isOneOfDeliveries(deliveries)} FOR SHARE`.execute(db);
  const known = new Set(rows.map(deliveryName));
  return deliveries.filter((one) => !known.has(deliveryName(one)));
};
