import { type DeliveryKey, type EventType, failuresUntilProbing } from '@causeway/proto';
import type { NewDelivery } from '../deliveries/addDeliveries.ts';
import type { DueQueue } from '../deliveries/noteDue.ts';

/** An event whose outbox row is ours; without its type, it is gone itself. */
export interface FoundEvent {
  readonly company_id: number;
  readonly event_id: number;
  readonly created_utc: Date;
  readonly type: EventType | null;
}

/** An enabled subscription, and how it fares. */
export interface FoundSubscription {
  readonly company_id: number;
  readonly subscription_id: number;
  readonly event_types: readonly EventType[];
  readonly consecutive_failures: number | null;
  readonly next_due_utc: Date | null;
}

export interface Plan {
  /** Those that the deliveries are of: all, unless that were too many deliveries. */
  readonly events: readonly FoundEvent[];
  readonly left: readonly FoundEvent[];
  readonly deliveries: readonly NewDelivery[];
  readonly queues: readonly DueQueue[];
  readonly wakes: readonly DeliveryKey[];
}

/** Deliveries that one transaction writes, but for one event's that are more. */
export const maxDeliveries = 4_000;

/**
 * Which deliveries become of events. A first attempt gets a lease and a wake; where the subscription fails, or has
 * waiting deliveries that are due before this one, or no wake can be sent, the delivery is due at once and takes
 * its turn in the queue.
 */
export const planDeliveries = (
  events: readonly FoundEvent[],
  subscriptions: readonly FoundSubscription[],
  { now, lease, publishes }: { readonly now: Date; readonly lease: Date; readonly publishes: boolean },
): Plan => {
  const byCompany = Map.groupBy(
    subscriptions.map((one) => ({ ...one, direct: publishes && !failsOrLags(one, now) })),
    (one) => one.company_id,
  );
  const deliveries: NewDelivery[] = [];
  const wakes: DeliveryKey[] = [];
  const queues = new Map<number, DueQueue>();
  let done = 0;
  for (const { company_id, event_id, created_utc, type } of events) {
    const takers = (byCompany.get(company_id) ?? []).filter(
      ({ event_types }) => type !== null && event_types.includes(type),
    );
    if (done > 0 && deliveries.length + takers.length > maxDeliveries) break;
    done++;
    for (const { subscription_id, direct } of takers) {
      const due_utc = direct ? lease : now;
      const key = { company_id, event_id, subscription_id, replay_id: 0, created_utc };
      deliveries.push({ ...key, event_type: type!, due_utc });
      if (direct) wakes.push(key);
      if (!queues.has(subscription_id)) queues.set(subscription_id, { company_id, subscription_id, due_utc });
    }
  }
  return {
    events: events.slice(0, done),
    left: events.slice(done),
    deliveries,
    queues: [...queues.values()],
    wakes,
  };
};

const failsOrLags = ({ consecutive_failures, next_due_utc }: FoundSubscription, now: Date): boolean =>
  (consecutive_failures ?? 0) >= failuresUntilProbing || (next_due_utc !== null && next_due_utc <= now);
