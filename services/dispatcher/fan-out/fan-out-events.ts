import {
  admitWaiting,
  type DeliveryKey,
  type EventOutboxRow,
  isLive,
  noteMissed,
  type WaitingEvent,
} from '@causeway/deliveries';
import { type EventType, matches, type PayloadCondition, payloadIn, type StoredEvent } from '@causeway/proto';
import { acrossTenants, createPauses, type Database, rowList, transaction } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type LeasedDelivery, type QueueKey, queueName } from '../delivery.ts';
import { scheduleQueues } from '../queue-rows.ts';
import { addRows, deleteOutbox, isOneOfEvents, readContents, withoutRows } from '../store.ts';
import type { Tables } from '../tables.ts';

export interface EventKey extends Pick<StoredEvent, 'company_id' | 'event_id'> {
  /** Null if retention has removed the event and only its outbox row is left. */
  readonly type: EventType | null;
  readonly leaseMs?: number | undefined;
}

interface FannedOut {
  readonly events: number;
  readonly deliveries: number;
  readonly left: readonly EventKey[];
  readonly missed: readonly WaitingEvent[];
}

/**
 * One transaction writes the deliveries and takes the events from the outbox. It skips events whose outbox
 * rows are missing, locked or leased to another process.
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
    const companies = new Set(found.map((row) => row.company_id));
    const subscriptions = await readSubscriptions(all, companies, at);
    const choosy = selectedByPayload(found, subscriptions);
    const unmet = await unmetConditions(all, choosy.slice(0, maxPayloads), subscriptions);
    const later = new Set(choosy.slice(maxPayloads).map(({ event_id }) => event_id));
    const plan = planDeliveries(found, subscriptions, at, { unmet, later });
    // A dispatcher that lost the event's lease may have written some of them.
    const taken = new Set(found.flatMap((one) => (one.leaseMs === undefined ? [one.event_id] : [])));
    const [swept, fresh] = [
      plan.deliveries.filter(({ event_id }) => taken.has(event_id)),
      plan.deliveries.filter(({ event_id }) => !taken.has(event_id)),
    ];
    const unwritten = [...fresh, ...(await withoutRows(all, swept))];
    const { admitted, refused, dropped } = await admitWaiting(all, unwritten, {
      quota,
      now: at,
      makesRoom: true,
    });
    await noteMissed(all, refused);
    const queues = new Map<string, QueueKey>(admitted.map((one) => [queueName(one), one]));
    const existing = await scheduleQueues(all, [...queues.values()], at);
    await addRows(all, admitted, { queues: existing, now: at, holder: null });
    await deleteOutbox(all, plan.done);
    return {
      events: plan.done.length,
      deliveries: admitted.length,
      left: plan.left,
      missed: [...refused, ...dropped],
    };
  });

const lockOutboxRows = async (db: Kysely<Tables>, events: readonly EventKey[], now: Date) => {
  const leased = events.filter(({ leaseMs }) => leaseMs !== undefined);
  const isOurs = leased.length === 0 ? sql`` : sql`OR (event_id, leased_until) IN (${leasesOf(leased)})`;
  // By primary key only: a scan would briefly lock rows of other replicas.
  const { rows } = await sql<EventOutboxRow>`
    SELECT company_id, event_id, created_utc FROM event_outbox FORCE INDEX (PRIMARY)
    WHERE ${isOneOfEvents(events)}
      AND (leased_until <= ${now} ${isOurs})
    FOR UPDATE SKIP LOCKED`.execute(db);
  const known = new Map(events.map((event) => [event.event_id, event]));
  return rows.map((row) => ({ ...known.get(row.event_id)!, created_utc: row.created_utc }));
};

const leasesOf = (events: readonly EventKey[]) =>
  rowList(events.map(({ event_id, leaseMs = 0 }) => [event_id, new Date(leaseMs)]));

const readSubscriptions = (db: Kysely<Tables>, companyIds: ReadonlySet<number>, now: Date) =>
  db
    .selectFrom('subscriptions')
    .select(['company_id', 'subscription_id', 'event_types', 'conditions'])
    .where('company_id', 'in', [...companyIds])
    .where(isLive(now))
    .execute();

interface FoundEvent {
  readonly company_id: number;
  readonly event_id: number;
  readonly created_utc: Date;
  readonly type: EventType | null;
}

interface FoundSubscription extends QueueKey {
  readonly event_types: readonly EventType[];
  readonly conditions: readonly PayloadCondition[] | null;
}

/** The events whose payloads decide who gets them. */
const selectedByPayload = (
  events: readonly FoundEvent[],
  subscriptions: readonly FoundSubscription[],
): readonly DeliveryKey[] => {
  const choosy = Map.groupBy(
    subscriptions.filter(({ conditions }) => conditions !== null),
    (one) => one.company_id,
  );
  return events
    .filter(({ company_id, type }) => choosy.get(company_id)?.some((one) => one.event_types.includes(type!)))
    .map((event) => ({ ...event, subscription_id: 0, replay_id: 0 }));
};

/** A payload has up to 256 KiB. */
const maxPayloads = 32;

/** `eventId-subscriptionId` of what is not delivered. Their company's payloads can be large: other work runs in between. */
const unmetConditions = async (
  db: Kysely<Tables>,
  keys: readonly DeliveryKey[],
  subscriptions: readonly FoundSubscription[],
): Promise<ReadonlySet<string>> => {
  const contents = await readContents(db, keys);
  const unmet = new Set<string>();
  const pause = createPauses();
  for (const { company_id, event_id } of keys) {
    const content = contents.get(event_id);
    const payload = content && payloadIn(content.body);
    for (const one of subscriptions)
      if (one.company_id === company_id && !matches(one.conditions, payload))
        unmet.add(`${event_id}-${one.subscription_id}`);
    await pause();
  }
  return unmet;
};

interface Plan {
  readonly deliveries: readonly LeasedDelivery[];
  /** They leave the outbox, also events without deliveries. */
  readonly done: readonly FoundEvent[];
  /** The transaction would write too many rows. */
  readonly left: readonly FoundEvent[];
}

/** Unless a single event needs more. */
export const maxDeliveries = 4_000;

interface PayloadRules {
  readonly unmet?: ReadonlySet<string>;
  /** Events whose payloads the next transaction reads. */
  readonly later?: ReadonlySet<number>;
}

export const planDeliveries = (
  events: readonly FoundEvent[],
  subscriptions: readonly FoundSubscription[],
  now: Date,
  { unmet = new Set(), later = new Set() }: PayloadRules = {},
): Plan => {
  const byCompany = Map.groupBy(subscriptions, (one) => one.company_id);
  const deliveries: LeasedDelivery[] = [];
  let done = 0;
  for (const { company_id, event_id, created_utc, type } of events) {
    const ofCompany = (byCompany.get(company_id) ?? []).flatMap(({ subscription_id, event_types }) =>
      type === null || !event_types.includes(type) || unmet.has(`${event_id}-${subscription_id}`)
        ? []
        : [
            {
              company_id,
              event_id,
              subscription_id,
              replay_id: 0,
              created_utc,
              event_type: type,
              leaseMs: now.getTime(),
            },
          ],
    );
    if (done > 0 && (later.has(event_id) || deliveries.length + ofCompany.length > maxDeliveries)) break;
    deliveries.push(...ofCompany);
    done++;
  }
  return { deliveries, done: events.slice(0, done), left: events.slice(done) };
};
