import type { DeliveryKey } from './tables.ts';

/**
 * The lease of a delivery: longer than an attempt can take, including its waits. When it expires, the delivery is due
 * again.
 */
export const leaseMs = 30_000;

/** Maximum number of deliveries in one wake, unless a single event has more. */
export const maxWakeDeliveries = 64;

/** An event, and the subscriptions to which it can be delivered at once. Their deliveries have no rows yet. */
export interface AnnouncedEvent extends Pick<DeliveryKey, 'company_id' | 'event_id' | 'created_utc'> {
  readonly subscription_ids: readonly number[];
  /** The W3C trace context of its fan-out, if the fan-out is traced. */
  readonly traceparent?: string | undefined;
}

/**
 * A message of the work queue: first attempts to make, all under the lease of the events' outbox rows. A wake is only
 * a hint. The dispatcher that takes it reads these rows, and makes an attempt only if a row still has exactly this
 * `dueMs` and the attempt can end before it.
 */
export interface DeliveryWake {
  readonly dueMs: number;
  readonly events: readonly AnnouncedEvent[];
}

export const encodeWake = ({ dueMs, events }: DeliveryWake): string =>
  JSON.stringify([
    dueMs,
    ...events.map(({ company_id, event_id, created_utc, subscription_ids, traceparent }) => [
      company_id,
      event_id,
      created_utc.getTime(),
      subscription_ids,
      ...(traceparent === undefined ? [] : [traceparent]),
    ]),
  ]);

export const decodeWake = (text: string): DeliveryWake => {
  const [dueMs, ...rows] = JSON.parse(text) as [number, ...[number, number, number, number[], string?][]];
  return {
    dueMs,
    events: rows.map(([company_id, event_id, createdMs, subscription_ids, traceparent]) => ({
      company_id,
      event_id,
      created_utc: new Date(createdMs),
      subscription_ids,
      ...(traceparent !== undefined && { traceparent }),
    })),
  };
};
