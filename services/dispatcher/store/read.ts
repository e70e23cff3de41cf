import { type DeliveryKey, type DeliveryRow, encodeEnvelope, type StoredEvent } from '@causeway/proto';
import { rowList } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type QueueKey, queueName, type Target } from '../job.ts';
import type { Tables } from '../tables.ts';

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
    SELECT event_id, company_id, type, created_utc, payload FROM events FORCE INDEX (event_id)
    WHERE (company_id, event_id, created_utc)
        IN (${rowList([...events.values()].map((key) => [key.company_id, key.event_id, key.created_utc]))})
      AND created_utc BETWEEN ${new Date(Math.min(...days))} AND ${new Date(Math.max(...days))}`.execute(db);
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
    FROM subscriptions AS s FORCE INDEX (PRIMARY)
    LEFT JOIN delivery_queues AS q
      ON q.company_id = s.company_id AND q.subscription_id = s.subscription_id
    WHERE (s.company_id, s.subscription_id)
      IN (${rowList(keys.map((key) => [key.company_id, key.subscription_id]))})`.execute(db);
  return new Map(rows.map((row) => [queueName(row), row]));
};
