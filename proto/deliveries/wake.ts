import type { DeliveryKey } from './tables.ts';

/**
 * For how long a delivery belongs to whoever took it: longer than an attempt can take with all its waiting. Then
 * it is due again.
 */
export const leaseMs = 30_000;

/** Deliveries that one wake names at most. */
export const maxWakeDeliveries = 64;

/**
 * A message of the work queue: first attempts that may be made, all under the lease that their rows were
 * written with. It wakes and promises nothing: whoever takes it reads the rows, and makes an attempt only where
 * a row still waits with exactly this `dueMs` and an attempt can end before it.
 */
export interface DeliveryWake {
  readonly dueMs: number;
  readonly deliveries: readonly WokenDelivery[];
}

/** With the W3C trace context of its fan-out, where that is recorded. */
export type WokenDelivery = DeliveryKey & { readonly traceparent?: string | undefined };

export const encodeWake = ({ dueMs, deliveries }: DeliveryWake): string =>
  JSON.stringify([
    dueMs,
    ...deliveries.map(({ company_id, event_id, subscription_id, replay_id, created_utc, traceparent }) => [
      company_id,
      event_id,
      subscription_id,
      replay_id,
      created_utc.getTime(),
      ...(traceparent === undefined ? [] : [traceparent]),
    ]),
  ]);

export const decodeWake = (text: string): DeliveryWake => {
  const [dueMs, ...rows] = JSON.parse(text) as [
    number,
    ...[number, number, number, number, number, string?][],
  ];
  return {
    dueMs,
    deliveries: rows.map(([company_id, event_id, subscription_id, replay_id, createdMs, traceparent]) => ({
      company_id,
      event_id,
      subscription_id,
      replay_id,
      created_utc: new Date(createdMs),
      ...(traceparent !== undefined && { traceparent }),
    })),
  };
};
