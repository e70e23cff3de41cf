import type { DeliveryKey } from '@causeway/proto';
import { bigint, type Columns, datetime, jsonTable, sqlTime, type Value } from '@causeway/runtime';
import { type RawBuilder, sql } from 'kysely';
import type { QueueKey } from '../job.ts';

/** Subscriptions (and with `more` something about each) as a table. */
export const queueTable = <Key extends QueueKey>(
  keys: readonly Key[],
  more: Columns = {},
  values: (key: Key) => readonly Value[] = () => [],
): RawBuilder<unknown> =>
  jsonTable(
    { company_id: bigint, subscription_id: bigint, ...more },
    keys.map((key) => [key.company_id, key.subscription_id, ...values(key)]),
  );

/** Deliveries (and with `more` something about each) as a table. */
export const deliveryTable = <Key extends DeliveryKey>(
  keys: readonly Key[],
  more: Columns = {},
  values: (key: Key) => readonly Value[] = () => [],
): RawBuilder<unknown> =>
  jsonTable(
    {
      company_id: bigint,
      event_id: bigint,
      subscription_id: bigint,
      replay_id: bigint,
      created_utc: datetime,
      ...more,
    },
    keys.map((key) => [
      key.company_id,
      key.event_id,
      key.subscription_id,
      key.replay_id,
      sqlTime(key.created_utc),
      ...values(key),
    ]),
  );

/** `k` is the table of keys; its rows come first, so that each is one look-up by the primary key. */
export const onQueue = sql`k.company_id = q.company_id AND k.subscription_id = q.subscription_id`;
export const onDelivery = sql`k.company_id = d.company_id AND k.event_id = d.event_id
  AND k.subscription_id = d.subscription_id AND k.replay_id = d.replay_id AND k.created_utc = d.created_utc`;
