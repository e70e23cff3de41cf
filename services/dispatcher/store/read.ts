import { type DeliveryKey, type DeliveryRow, encodeEnvelope, type StoredEvent } from '@causeway/proto';
import { bigint, datetime, jsonTable, sqlTime } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type QueueKey, queueName, type Target } from '../job.ts';
import type { Tables } from '../tables.ts';
import { queueTable } from './key-tables.ts';

/** A waiting delivery's columns that an attempt needs. */
export type WaitingDelivery = DeliveryKey &
  Pick<DeliveryRow, 'event_type' | 'attempts'> & { readonly due_utc: Date };

/** Reads the envelopes of the deliveries' events, by event id. A removed event has none. */
export const readBodies = async (
  db: Kysely<Tables>,
  keys: readonly DeliveryKey[],
): Promise<ReadonlyMap<number, Buffer>> => {
  const events = new Map(keys.map((key) => [key.event_id, key]));
  const days = [...events.values()].map(({ created_utc }) => created_utc.getTime());
  // Event ids are unique, but each partition has its own index; the bounds limit the partitions read. Without the
  // hint MySQL may choose the primary key, whose prefix is the company, and scan all its events.
  const { rows } = await sql<StoredEvent>`
    SELECT e.event_id, e.company_id, e.type, e.created_utc, e.payload
    FROM ${jsonTable(
      { company_id: bigint, event_id: bigint, created_utc: datetime },
      [...events.values()].map((key) => [key.company_id, key.event_id, sqlTime(key.created_utc)]),
    )} AS k
    STRAIGHT_JOIN events AS e FORCE INDEX (event_id)
      ON e.event_id = k.event_id AND e.company_id = k.company_id AND e.created_utc = k.created_utc
    WHERE e.created_utc BETWEEN ${new Date(Math.min(...days))} AND ${new Date(Math.max(...days))}`.execute(
    db,
  );
  return new Map(rows.map((event) => [event.event_id, encodeEnvelope(event)]));
};

/** A subscription's target with its queue key and state. */
export type FoundTarget = QueueKey & Target & { readonly enabled: number };

/** Reads the subscriptions that still exist, by `queueName`. */
export const readTargets = async (
  db: Kysely<Tables>,
  keys: readonly QueueKey[],
): Promise<ReadonlyMap<string, FoundTarget>> => {
  const { rows } = await sql<FoundTarget>`
    SELECT s.company_id, s.subscription_id, s.enabled, s.url, s.secret, s.previous_secret,
      s.previous_secret_until, COALESCE(q.consecutive_failures, 0) AS consecutive_failures
    FROM ${queueTable(keys)} AS k
    STRAIGHT_JOIN subscriptions AS s
      ON s.company_id = k.company_id AND s.subscription_id = k.subscription_id
    LEFT JOIN delivery_queues AS q
      ON q.company_id = k.company_id AND q.subscription_id = k.subscription_id`.execute(db);
  return new Map(rows.map((row) => [queueName(row), row]));
};
