import type { EventOutboxRow, EventType, StoredEvent } from '@causeway/proto';
import {
  acrossTenants,
  admitWaiting,
  bigint,
  type Database,
  datetime,
  jsonTable,
  noteMissed,
  sqlTime,
  transaction,
  type WaitingEvent,
} from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type QueueKey, queueName } from '../job.ts';
import { scheduleQueues } from '../queues/schedule-queues.ts';
import { addRows } from '../store/add-rows.ts';
import type { Tables } from '../tables.ts';
import { planDeliveries } from './plan-deliveries.ts';

/** An event to fan out. */
export interface EventKey extends Pick<StoredEvent, 'company_id' | 'event_id'> {
  /** Null if retention has removed the event and only its outbox row is left. */
  readonly type: EventType | null;
  /** The lease of its outbox row that this process has, if the event's message came here. */
  readonly leaseMs?: number | undefined;
}

export interface FannedOut {
  /** Events that this call fanned out. */
  readonly events: number;
  /** Waiting deliveries that it wrote. */
  readonly deliveries: number;
  /** Events left untouched, because they would have made the transaction too large. */
  readonly left: readonly EventKey[];
  /** Missed by their subscriptions, as the quota of waiting deliveries is reached. */
  readonly missed: readonly WaitingEvent[];
}

/**
 * Writes the deliveries of events as waiting, due at once, and takes the events from the outbox, in one transaction.
 * It skips events whose outbox rows are missing, locked or leased to another process. Deliveries that exist already
 * stay as they are.
 */
export const fanOutEvents = async (
  db: Database<Tables>,
  events: readonly EventKey[],
  { now, waitingQuota: quota }: { readonly now: () => Date; readonly waitingQuota: number },
): Promise<FannedOut> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'the fan-out handles events of many companies in one batch');
    const at = now();
    const found = await lockOutboxRows(all, events, at);
    if (found.length === 0) return { events: 0, deliveries: 0, left: [], missed: [] };
    const subscriptions = await readSubscriptions(all, new Set(found.map((row) => row.company_id)));
    const plan = planDeliveries(found, subscriptions, at);
    const { admitted, refused, dropped } = await admitWaiting(all, plan.deliveries, {
      quota,
      now: at,
      makesRoom: true,
    });
    await noteMissed(all, refused);
    const queues = new Map<string, QueueKey>(admitted.map((one) => [queueName(one), one]));
    await scheduleQueues(all, [...queues.values()], at);
    await addRows(all, admitted, { now: at, holder: null });
    await deleteOutboxRows(all, plan.done);
    return {
      events: plan.done.length,
      deliveries: admitted.length,
      left: plan.left,
      missed: [...refused, ...dropped],
    };
  });

type OutboxKey = Pick<EventKey, 'company_id' | 'event_id' | 'leaseMs'>;

/** The outbox rows of the events, as `o`. By primary key only: a scan would briefly lock rows of other replicas. */
const outboxRows = (keys: readonly OutboxKey[]) => {
  const table = jsonTable(
    { company_id: bigint, event_id: bigint, lease_utc: datetime },
    keys.map(({ company_id, event_id, leaseMs }) => [
      company_id,
      event_id,
      leaseMs === undefined ? null : sqlTime(leaseMs),
    ]),
  );
  return sql`${table} AS k
    STRAIGHT_JOIN event_outbox AS o FORCE INDEX (PRIMARY)
      ON o.company_id = k.company_id AND o.event_id = k.event_id`;
};

/** Locks those rows of the events that no other process has locked or leased. */
const lockOutboxRows = async (db: Kysely<Tables>, events: readonly EventKey[], now: Date) => {
  const { rows } = await sql<EventOutboxRow>`
    SELECT o.company_id, o.event_id, o.created_utc
    FROM ${outboxRows(events)}
    WHERE o.leased_until IS NULL OR o.leased_until <= ${now} OR o.leased_until = k.lease_utc
    FOR UPDATE OF o SKIP LOCKED`.execute(db);
  const known = new Map(events.map((event) => [event.event_id, event]));
  return rows.map((row) => ({ ...known.get(row.event_id)!, created_utc: row.created_utc }));
};

const deleteOutboxRows = async (db: Kysely<Tables>, keys: readonly OutboxKey[]): Promise<void> => {
  await sql`
    DELETE o FROM ${outboxRows(keys)}`.execute(db);
};

const readSubscriptions = (db: Kysely<Tables>, companyIds: ReadonlySet<number>) =>
  db
    .selectFrom('subscriptions')
    .select(['company_id', 'subscription_id', 'event_types'])
    .where('company_id', 'in', [...companyIds])
    .where('enabled', '=', 1)
    .execute();
