import { type DeliveryKey, type EventType, leaseMs, type StoredEvent } from '@causeway/proto';
import { acrossTenants, bigint, type Database, jsonTable, transaction } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { addDeliveries } from '../deliveries/addDeliveries.ts';
import { noteDue } from '../deliveries/noteDue.ts';
import type { Tables } from '../tables.ts';
import { planDeliveries } from './planDeliveries.ts';

/** An event that may have to be fanned out. */
export interface EventKey {
  readonly company_id: number;
  readonly event_id: number;
  /** Null: the event itself is gone, and only its outbox row is left. */
  readonly type: EventType | null;
  /** The trace context that it came with. */
  readonly traceparent?: string;
}

export interface FannedOut {
  /** How many of the events were still to be fanned out, and are now. */
  readonly events: number;
  readonly deliveries: number;
  /** First attempts that may be made at once, under a lease to `dueMs`. */
  readonly wakes: readonly DeliveryKey[];
  readonly dueMs: number;
  /** Events that would have made the transaction too large. Nothing was done about them. */
  readonly left: readonly EventKey[];
}

/**
 * Turns events into deliveries, in one transaction. Who locks an event's outbox row does the work, and the row is
 * gone with it; an event without a row, or whose row another holds, is another's.
 * @param publishes whether wakes will find their way; if not, all deliveries are due at once.
 */
export const fanOutEvents = async (
  db: Database<Tables>,
  events: readonly EventKey[],
  { now, publishes }: { readonly now: () => Date; readonly publishes: boolean },
): Promise<FannedOut> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'events of many companies are fanned out together');
    const at = now();
    const lease = new Date(at.getTime() + leaseMs);
    const found = await lockOutboxRows(all, events);
    if (found.length === 0) return { ...nothing, dueMs: lease.getTime() };
    const subscriptions = await readSubscriptions(all, new Set(found.map((row) => row.company_id)));
    const plan = planDeliveries(found, subscriptions, { now: at, lease, publishes });
    await addDeliveries(all, plan.deliveries, at);
    await deleteOutboxRows(all, plan.events);
    await noteDue(all, plan.queues);
    return {
      events: plan.events.length,
      deliveries: plan.deliveries.length,
      wakes: plan.wakes,
      dueMs: lease.getTime(),
      left: plan.left,
    };
  });

const nothing = { events: 0, deliveries: 0, wakes: [], left: [] } as const;

const columns = { company_id: bigint, event_id: bigint };
const keyTable = (keys: readonly Pick<EventKey, 'company_id' | 'event_id'>[]) =>
  jsonTable(
    columns,
    keys.map(({ company_id, event_id }) => [company_id, event_id]),
  );

/**
 * A row that lies there is an event that is still to be fanned out. By the key alone: a scan of a short table would
 * lock rows of others for a moment, and they would pass these over.
 */
const lockOutboxRows = async (db: Kysely<Tables>, events: readonly EventKey[]) => {
  const { rows } = await sql<Pick<StoredEvent, 'company_id' | 'event_id' | 'created_utc'>>`
    SELECT o.company_id, o.event_id, o.created_utc
    FROM ${keyTable(events)} AS k
    STRAIGHT_JOIN event_outbox AS o FORCE INDEX (PRIMARY)
      ON o.company_id = k.company_id AND o.event_id = k.event_id
    FOR UPDATE OF o SKIP LOCKED`.execute(db);
  const types = new Map(events.map(({ event_id, type }) => [event_id, type]));
  return rows.map((row) => ({ ...row, type: types.get(row.event_id) ?? null }));
};

const deleteOutboxRows = async (db: Kysely<Tables>, keys: readonly EventKey[]): Promise<void> => {
  await sql`
    DELETE o FROM ${keyTable(keys)} AS k
    STRAIGHT_JOIN event_outbox AS o FORCE INDEX (PRIMARY)
      ON o.company_id = k.company_id AND o.event_id = k.event_id`.execute(db);
};

const readSubscriptions = (db: Kysely<Tables>, companyIds: ReadonlySet<number>) =>
  db
    .selectFrom('subscriptions as s')
    .leftJoin('delivery_queues as q', (join) =>
      join.onRef('q.company_id', '=', 's.company_id').onRef('q.subscription_id', '=', 's.subscription_id'),
    )
    .select([
      's.company_id',
      's.subscription_id',
      's.event_types',
      'q.consecutive_failures',
      'q.next_due_utc',
    ])
    .where('s.company_id', 'in', [...companyIds])
    .where('s.enabled', '=', 1)
    .execute();
