import { type AnnouncedEvent, type EventType, failuresUntilProbing } from '@causeway/proto';
import type { NewDelivery } from '../deliveries/add-deliveries.ts';
import type { DueQueue } from '../deliveries/make-queues-due.ts';

/** An event whose outbox row this transaction has locked; without a type if retention has removed the event. */
export interface FoundEvent {
  readonly company_id: number;
  readonly event_id: number;
  readonly created_utc: Date;
  readonly type: EventType | null;
  /** An expired lease: some of the deliveries announced under it may have been made. */
  readonly leased_until: Date | null;
}

/** An enabled subscription and its health. */
export interface FoundSubscription {
  readonly company_id: number;
  readonly subscription_id: number;
  readonly event_types: readonly EventType[];
  readonly consecutive_failures: number | null;
  readonly next_due_utc: Date | null;
}

export interface Plan {
  /** First attempts that may start at once; their events stay in the outbox, leased. */
  readonly announced: readonly AnnouncedEvent[];
  /** Deliveries for the queues, written as rows. */
  readonly deliveries: readonly NewDelivery[];
  readonly queues: readonly DueQueue[];
  /** Events that are fanned out completely and leave the outbox. */
  readonly done: readonly FoundEvent[];
  /** Events left for a later transaction, because this one would write too many rows. */
  readonly left: readonly FoundEvent[];
}

/** Rows that one transaction writes at most, unless a single event needs more. */
export const maxDeliveries = 4_000;
/** An event with more deliveries goes to the queues: one dispatcher makes all deliveries of an announced event. */
export const maxAnnounced = 256;

/**
 * Plans the deliveries of events. First attempts are announced. If the subscription is failing, has waiting deliveries
 * that are due earlier, or wakes cannot be published, the delivery is due at once and takes its turn in the queue.
 */
export const planDeliveries = (
  events: readonly FoundEvent[],
  subscriptions: readonly FoundSubscription[],
  { now, publishes }: { readonly now: Date; readonly publishes: boolean },
): Plan => {
  const byCompany = Map.groupBy(
    subscriptions.map((one) => ({ ...one, direct: publishes && !failsOrLags(one, now) })),
    (one) => one.company_id,
  );
  const announced: AnnouncedEvent[] = [];
  const deliveries: NewDelivery[] = [];
  const done: FoundEvent[] = [];
  const queues = new Map<number, DueQueue>();
  let looked = 0;
  for (const event of events) {
    const { company_id, event_id, created_utc, type, leased_until } = event;
    const takers = (byCompany.get(company_id) ?? []).filter(
      ({ event_types }) => type !== null && event_types.includes(type),
    );
    const mayAnnounce = leased_until === null && takers.length <= maxAnnounced;
    const [direct, queued] = [
      takers.filter((one) => mayAnnounce && one.direct),
      takers.filter((one) => !(mayAnnounce && one.direct)),
    ];
    if (looked > 0 && deliveries.length + queued.length > maxDeliveries) break;
    looked++;
    if (direct.length === 0) done.push(event);
    else {
      const subscription_ids = direct.map(({ subscription_id }) => subscription_id);
      announced.push({ company_id, event_id, created_utc, subscription_ids });
    }
    for (const { subscription_id } of queued) {
      const key = { company_id, event_id, subscription_id, replay_id: 0, created_utc };
      deliveries.push({ ...key, event_type: type!, due_utc: now });
      if (!queues.has(subscription_id))
        queues.set(subscription_id, { company_id, subscription_id, due_utc: now });
    }
  }
  return { announced, deliveries, queues: [...queues.values()], done, left: events.slice(looked) };
};

const failsOrLags = ({ consecutive_failures, next_due_utc }: FoundSubscription, now: Date): boolean =>
  (consecutive_failures ?? 0) >= failuresUntilProbing || (next_due_utc !== null && next_due_utc <= now);
