import { type DeliveryKey, type DeliveryRow, isLive } from '@causeway/deliveries';
import { type EventType, encodeEnvelope } from '@causeway/proto';
import { acrossTenants, rowList } from '@causeway/runtime';
import { type ExpressionBuilder, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type Delivery,
  deliveryName,
  type LeasedDelivery,
  type QueueKey,
  queueName,
  type SubscriptionTarget,
} from './delivery.ts';
import type { Tables } from './tables.ts';

export type WaitingDelivery = DeliveryKey &
  Pick<DeliveryRow, 'event_type' | 'attempts'> & { readonly due_utc: Date };

/** What a delivery carries of its event. */
type EventContent = Pick<Delivery, 'body' | 'sequence' | 'origin'>;

/** By the event's ID; a removed event has none. */
export const readContents = async (
  db: Kysely<Tables>,
  keys: readonly DeliveryKey[],
): Promise<ReadonlyMap<number, EventContent>> => {
  if (keys.length === 0) return new Map();
  const events = new Map(keys.map((key) => [key.event_id, key]));
  const days = [...events.values()].map(({ created_utc }) => created_utc.getTime());
  // Each partition has its own index of event ids; the bounds limit the partitions read. Without the hint
  // MySQL may choose the primary key, whose prefix is the company, and scan all its events.
  const { rows } = await sql<Tables['events']>`
    SELECT event_id, company_id, sequence, type, created_utc, payload, origin FROM events FORCE INDEX (event_id)
    WHERE (company_id, event_id, created_utc)
        IN (${rowList([...events.values()].map((key) => [key.company_id, key.event_id, key.created_utc]))})
      AND created_utc BETWEEN ${new Date(Math.min(...days))} AND ${new Date(Math.max(...days))}`.execute(db);
  return new Map(
    rows.map((event) => {
      const { event_id, sequence, origin } = event;
      return [event_id, { body: encodeEnvelope(event), sequence, origin }];
    }),
  );
};

/** What a subscription asks of its events and deliveries. */
export const ruleColumns = sql.raw('s.conditions, s.pace_limit, s.pace_seconds, s.paused_utc, s.headers');

export type FoundTarget = QueueKey &
  SubscriptionTarget & { readonly enabled: number; readonly event_types: readonly EventType[] };

/** By `queueName`; deleted subscriptions are missing. */
export const readTargets = async (
  db: Kysely<Tables>,
  keys: readonly QueueKey[],
  now: Date,
): Promise<ReadonlyMap<string, FoundTarget>> => {
  const { rows } = await sql<FoundTarget>`
    SELECT s.company_id, s.subscription_id, ${isLive(now, 's.')} AS enabled, s.event_types, s.url, s.secret, s.previous_secret,
      s.previous_secret_until, ${ruleColumns}, COALESCE(q.consecutive_failures, 0) AS consecutive_failures
    FROM subscriptions AS s FORCE INDEX (PRIMARY)
    LEFT JOIN delivery_queues AS q
      ON q.company_id = s.company_id AND q.subscription_id = s.subscription_id
    WHERE (s.company_id, s.subscription_id)
      IN (${rowList(keys.map((key) => [key.company_id, key.subscription_id]))})`.execute(db);
  return new Map(rows.map((row) => [queueName(row), row]));
};

/**
 * Writes waiting rows, due when the leases end, for deliveries that have none. A delivery without a queue
 * gets none, because its subscription was deleted. `queues` names those that exist and are locked.
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
    .map((delivery) => [
      delivery.company_id,
      delivery.event_id,
      delivery.subscription_id,
      delivery.created_utc,
      delivery.event_type,
      new Date(delivery.leaseMs),
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

export const isOneOfQueues = (keys: readonly QueueKey[]): RawBuilder<SqlBool> =>
  sql`(company_id, subscription_id) IN (${rowList(keys.map((key) => [key.company_id, key.subscription_id]))})`;

export const isOneOfDeliveries = (keys: readonly DeliveryKey[]): RawBuilder<SqlBool> =>
  sql`(company_id, event_id, subscription_id, replay_id, created_utc) IN (${rowList(keys.map(valuesOf))})`;

/** Also due at the times that this process knows: their leases are unchanged. */
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

/** Ends their leases too. Call it in the transaction that has locked them. */
export const setState = async (
  db: Kysely<Tables>,
  deliveries: readonly DeliveryKey[],
  { state, due_utc, updated_utc }: Pick<DeliveryRow, 'state' | 'due_utc' | 'updated_utc'>,
): Promise<void> => {
  await sql`
    UPDATE deliveries FORCE INDEX (PRIMARY)
    SET state = ${state}, due_utc = ${due_utc}, leased_by = NULL, updated_utc = ${updated_utc}
    WHERE ${isOneOfDeliveries(deliveries)}`.execute(acrossTenants(db, 'each delivery names its company'));
};

/** Adds the deliveries of a company to the sums of the replays that made them, or takes them away. */
export const addToReplays = async (
  db: Kysely<Tables>,
  companyId: number,
  deliveries: readonly Pick<DeliveryKey, 'replay_id'>[],
  column: 'failed' | 'made',
  by: 1 | -1,
): Promise<void> => {
  const counts = Map.groupBy(deliveries, ({ replay_id }) => replay_id);
  counts.delete(0);
  for (const [replayId, { length }] of [...counts].sort(([a], [b]) => a - b))
    await db
      .updateTable('replays')
      .set(({ eb }) => ({ [column]: eb(column, '+', by * length) }))
      .where('company_id', '=', companyId)
      .where('replay_id', '=', replayId)
      .execute();
};

export const isQueue =
  ({ company_id, subscription_id }: QueueKey) =>
  // biome-ignore lint/suspicious/noExplicitAny: any table with these columns.
  (builder: ExpressionBuilder<Tables, any>) =>
    builder.and({ company_id, subscription_id });

interface OutboxKey {
  readonly company_id: number;
  readonly event_id: number;
}

export const isOneOfEvents = (events: readonly OutboxKey[]): RawBuilder<SqlBool> => {
  const keys = new Map(events.map(({ company_id, event_id }) => [event_id, [company_id, event_id]]));
  return sql`(company_id, event_id) IN (${rowList([...keys.values()])})`;
};

/**
 * No dispatcher takes the events before the transaction ends. Call it before locking companies.
 * @returns the IDs of the events that have a row; another dispatcher has decided about the others.
 */
export const lockOutbox = async (
  db: Kysely<Tables>,
  events: readonly OutboxKey[],
  lock: RawBuilder<unknown>,
): Promise<ReadonlySet<number>> => {
  if (events.length === 0) return new Set();
  const { rows } = await sql<{ event_id: number }>`
    SELECT event_id FROM event_outbox FORCE INDEX (PRIMARY)
    WHERE ${isOneOfEvents(events)} ${lock}`.execute(db);
  return new Set(rows.map(({ event_id }) => event_id));
};

export const deleteOutbox = async (db: Kysely<Tables>, events: readonly OutboxKey[]): Promise<void> => {
  if (events.length === 0) return;
  await sql`
    DELETE /*+ INDEX(event_outbox PRIMARY) */ FROM event_outbox
    WHERE ${isOneOfEvents(events)}`.execute(db);
};

export const forShare = sql`FOR SHARE`;
export const forUpdate = sql`FOR UPDATE`;

/**
 * The first of some rows, read without locks, that no other process has taken meanwhile. Locking by key keeps
 * each transaction in one shard.
 * @param take resolves to undefined if the row is gone or locked.
 */
export const takeFirst = async <Key, Taken>(
  keys: readonly Key[],
  take: (key: Key) => Promise<Taken | undefined>,
): Promise<Taken | undefined> => {
  for (const key of keys) {
    const taken = await take(key);
    if (taken !== undefined) return taken;
  }
  return undefined;
};

/** More rows than there are processes that take them at the same time. */
export const candidates = 16;
