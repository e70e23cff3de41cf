import type { DeliveryKey } from '@causeway/proto';
import { rowList } from '@causeway/runtime';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { QueueKey } from '../job.ts';

/** Whether a row of `delivery_queues` has one of these keys. */
export const isOneOfQueues = (keys: readonly QueueKey[]): RawBuilder<SqlBool> =>
  sql`(company_id, subscription_id) IN (${rowList(keys.map((key) => [key.company_id, key.subscription_id]))})`;

/** Whether a row of `deliveries` has one of these keys. */
export const isOneOfDeliveries = (keys: readonly DeliveryKey[]): RawBuilder<SqlBool> =>
  sql`(company_id, event_id, subscription_id, replay_id, created_utc) IN (${rowList(keys.map(valuesOf))})`;

/** The same, for deliveries that are also due at the times that this process knows: their leases are unchanged. */
export const isOneOfDue = <Key extends DeliveryKey>(
  keys: readonly Key[],
  dueOf: (key: Key) => Date,
): RawBuilder<SqlBool> =>
  sql`(company_id, event_id, subscription_id, replay_id, created_utc, due_utc)
    IN (${rowList(keys.map((key) => [...valuesOf(key), dueOf(key)]))})`;

const valuesOf = (key: DeliveryKey) => [
  key.company_id,
  key.event_id,
  key.subscription_id,
  key.replay_id,
  key.created_utc,
];
