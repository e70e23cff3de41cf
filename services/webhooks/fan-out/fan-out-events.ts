import {
  type AnnouncedEvent,
  type EventOutboxRow,
  type EventType,
  type StoredEvent,
  waitingDeliveriesQuota,
} from '@causeway/proto';
import {
  acrossTenants,
  admitWaiting,
  bigint,
  type Database,
  jsonTable,
  noteMissed,
  transaction,
  type WaitingEvent,
} from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { addDeliveries } from '../deliveries/add-deliveries.ts';
import { makeQueuesDue } from '../deliveries/make-queues-due.ts';
import type { Tables } from '../tables.ts';
import { planDeliveries } from './plan-deliveries.ts';

/** The key of an event in the outbox. */
export type OutboxKey = Pick<StoredEvent, 'company_id' | 'event_id'>;

/** An event that may have to be fanned out. */
export interface EventKey extends OutboxKey {
  /** Null if retention has removed the event and only its outbox row is left. */
  readonly type: EventType | null;
  /** The trace context of its message. */
  readonly traceparent?: string;
}

export interface FannedOut {
  /** Events that this call fanned out. */
  readonly events: number;
  /** Deliveries, announced or written. */
  readonly deliveries: number;
  /** First attempts that may start at once, under a lease until `dueMs`. */
  readonly announced: readonly AnnouncedEvent[];
  readonly dueMs: number;
  /** Events left untouched, because they would have made the transaction too large. */
  readonly left: readonly EventKey[];
  /** Missed by their subscriptions, as the quota of waiting deliveries is reached. */
  readonly missed: readonly WaitingEvent[];
}

export interface FanOutEventsOptions {
  readonly now: () => Date;
  /** Whether wakes can be published; if not, all deliveries are due at once. */
  readonly publishes: boolean;
  /** Length of the lease of announced events, in milliseconds. */
  readonly leaseMs: number;
  /** Deliveries of one company that may wait; the default unless given. */
  readonly waitingQuota?: number | undefined;
}

/**
 * Turns events into deliveries, in one transaction, for those events whose outbox rows it can lock. Deliveries for the
 * queues are written as rows. If first attempts can start at once, fan-out only leases the outbox row: the dispatcher
 * writes each delivery with its first result, then deletes the outbox row. When a lease expires, the missing
 * deliveries are written. Events whose outbox rows are missing, locked or leased are skipped: another replica or a
 * dispatcher has them.
 */
export const fanOutEvents = async (
  db: Database<Tables>,
  events: readonly EventKey[],
  { now, publishes, leaseMs, waitingQuota: quota = waitingDeliveriesQuota }: FanOutEventsOptions,
): Promise<FannedOut> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'the fan-out handles events of many companies in one batch');
    const at = now();
    const lease = new Date(at.getTime() + leaseMs);
    const found = await lockOutboxRows(all, events, at);
    if (found.length === 0) return { ...nothing, dueMs: lease.getTime() };
    const subscriptions = await readSubscriptions(all, new Set(found.map((row) => row.company_id)));
    const plan = planDeliveries(found, subscriptions, { now: at, publishes });
    const { admitted, refused, dropped } = await admitWaiting(all, plan.deliveries, {
      quota,
      now: at,
      makesRoom: true,
    });
    await noteMissed(all, refused);
    await addDeliveries(all, admitted, at);
    await leaseOutboxRows(all, plan.announced, lease);
    await deleteOutboxRows(all, plan.done);
    await makeQueuesDue(all, plan.queues);
    return {
      events: found.length - plan.left.length,
      deliveries: admitted.length + plan.announced.reduce((sum, one) => sum + one.subscription_ids.length, 0),
      announced: plan.announced,
      dueMs: lease.getTime(),
      left: plan.left,
      missed: [...refused, ...dropped],
    };
  });

const nothing = { events: 0, deliveries: 0, announced: [], left: [], missed: [] } as const;

const columns = { company_id: bigint, event_id: bigint };

/** The outbox rows of the events, as `o`. By primary key only: a scan would briefly lock rows of other replicas. */
const outboxRows = (keys: readonly OutboxKey[]) => {
  const table = jsonTable(
    columns,
    keys.map(({ company_id, event_id }) => [company_id, event_id]),
  );
  return sql`${table} AS k
    STRAIGHT_JOIN event_outbox AS o FORCE INDEX (PRIMARY)
      ON o.company_id = k.company_id AND o.event_id = k.event_id`;
};

/**
 * Locks the outbox rows that have no lease in force: their events are still to be fanned out. Skips locked rows.
 */
const lockOutboxRows = async (db: Kysely<Tables>, events: readonly EventKey[], now: Date) => {
  const { rows } = await sql<EventOutboxRow>`
    SELECT o.company_id, o.event_id, o.created_utc, o.leased_until
    FROM ${outboxRows(events)}
    WHERE o.leased_until IS NULL OR o.leased_until <= ${now}
    FOR UPDATE OF o SKIP LOCKED`.execute(db);
  const types = new Map(events.map(({ event_id, type }) => [event_id, type]));
  return rows.map((row) => ({ ...row, type: types.get(row.event_id) ?? null }));
};

const leaseOutboxRows = async (
  db: Kysely<Tables>,
  keys: readonly OutboxKey[],
  until: Date,
): Promise<void> => {
  if (keys.length === 0) return;
  await sql`
    UPDATE ${outboxRows(keys)}
    SET o.leased_until = ${until}`.execute(db);
};

const deleteOutboxRows = async (db: Kysely<Tables>, keys: readonly OutboxKey[]): Promise<void> => {
  if (keys.length === 0) return;
  await sql`
    DELETE o FROM ${outboxRows(keys)}`.execute(db);
};

/** Ends leases that no dispatcher learned of, so that the sweeper takes their events at once. */
export const endLeases = async (
  db: Database<Tables>,
  events: readonly OutboxKey[],
  { dueMs, now }: { readonly dueMs: number; readonly now: Date },
): Promise<void> => {
  await sql`
    UPDATE ${outboxRows(events)}
    SET o.leased_until = ${now}
    WHERE o.leased_until = ${new Date(dueMs)}`.execute(
    acrossTenants(db, 'one notification names events of many companies'),
  );
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
