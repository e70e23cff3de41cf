import type { EventType } from '@causeway/proto';
import type { LeasedDelivery } from '../intake/taken-events.ts';
import type { QueueKey } from '../job.ts';

/** An event whose outbox row this transaction has locked; without a type if retention has removed the event. */
export interface FoundEvent {
  readonly company_id: number;
  readonly event_id: number;
  readonly created_utc: Date;
  readonly type: EventType | null;
}

/** An enabled subscription. */
export interface FoundSubscription extends QueueKey {
  readonly event_types: readonly EventType[];
}

export interface Plan {
  /** Deliveries that are due at once. */
  readonly deliveries: readonly LeasedDelivery[];
  /** Events whose deliveries these are, and events without any. They leave the outbox. */
  readonly done: readonly FoundEvent[];
  /** Events left for a later transaction, because this one would write too many rows. */
  readonly left: readonly FoundEvent[];
}

/** Rows that one transaction writes at most, unless a single event needs more. */
export const maxDeliveries = 4_000;

/** Plans the waiting deliveries of events: one for each subscription of the company that wants the type. */
export const planDeliveries = (
  events: readonly FoundEvent[],
  subscriptions: readonly FoundSubscription[],
  now: Date,
): Plan => {
  const byCompany = Map.groupBy(subscriptions, (one) => one.company_id);
  const deliveries: LeasedDelivery[] = [];
  let done = 0;
  for (const { company_id, event_id, created_utc, type } of events) {
    const own = (byCompany.get(company_id) ?? []).flatMap(({ subscription_id, event_types }) =>
      type === null || !event_types.includes(type)
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
    if (done > 0 && deliveries.length + own.length > maxDeliveries) break;
    deliveries.push(...own);
    done++;
  }
  return { deliveries, done: events.slice(0, done), left: events.slice(done) };
};
