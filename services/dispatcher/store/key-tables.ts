import type { DeliveryKey } from '@causeway/proto';
import { bigint, type Columns, datetime, jsonTable, sqlTime, type Value } from '@causeway/runtime';
import { type RawBuilder, sql } from 'kysely';
import type { QueueKey } from '../job.ts';

/** Subscription keys as a table, with further columns if `more` is set. */
export const queueTable = <Key extends QueueKey>(
  keys: readonly Key[],
  more: Columns = {},
  values: (key: Key) => readonly Value[] = () => [],
): RawBuilder<unknown> =>
  jsonTable(
    { company_id: bigint, subscription_id: bigint, ...more },
    keys.map((key) => [key.company_id, key.subscription_id, ...values(key)]),
  );

/** Delivery keys as a table, with further columns if `more` is set. */
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

/** `k` is the table of keys. It comes first in the join, so that each row is one primary key lookup. */
export const onQueue = sql`k.company_id = q.company_id AND k.subscription_id = q.subscription_id`;
export const onDelivery = sql`k.company_id = d.company_id AND k.event_id = d.event_id
  AND k.subscription_id = d.subscription_id AND k.replay_id = d.replay_id AND k.created_utc = d.created_utc`;
