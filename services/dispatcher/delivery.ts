import type { DeliveryKey, Signed } from '@causeway/deliveries';
import type { EventType, HeaderPair, PayloadCondition } from '@causeway/proto';
import type { PostResult } from './http/send-post.ts';

export interface QueueKey {
  readonly company_id: number;
  readonly subscription_id: number;
}

export interface LeasedDelivery extends DeliveryKey {
  readonly event_type: EventType;
  readonly leaseMs: number;
  /** The ID under which this process leases the delivery's row (`Holder`); undefined while it has none. */
  holder?: number | undefined;
  /** Set if the event was matched here; the delivery may have no row yet. */
  readonly event?: TakenEvent;
}

export interface Delivery extends LeasedDelivery {
  /** From 1. */
  readonly attempt: number;
  readonly sequence: number;
  readonly origin: string | null;
  readonly source: 'first' | 'queue';
  /** On the monotonic clock: a paced attempt begins before, or is given back. */
  readonly startBeforeMs?: number | undefined;
  /** A failing subscription gets one attempt at a time. */
  readonly probe: boolean;
  readonly target: SubscriptionTarget;
  readonly body: Buffer;
}

export interface AttemptedDelivery extends Delivery {
  readonly startedMs: number;
  readonly signed: Signed & { readonly ownHeaders: readonly HeaderPair[] };
  readonly result: PostResult;
  readonly decision: Decision;
}

export type Decision =
  | { readonly outcome: 'succeeded' }
  | (FailedAttempt & { readonly outcome: 'retry'; readonly dueMs: number })
  | (FailedAttempt & { readonly outcome: 'failed' });

interface FailedAttempt {
  /** The receiver answered 410, so the dispatcher disables the subscription. */
  readonly gone: boolean;
  /** A failing subscription is not probed earlier, because the receiver asked for it. */
  readonly notBeforeMs: number;
  /** It is no failure of the receiver. */
  readonly isUncounted?: true;
}

/** The subscription as it was when the delivery was taken. */
export interface SubscriptionTarget {
  readonly url: string;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly previous_secret_until: Date | null;
  readonly consecutive_failures: number;
  readonly conditions: readonly PayloadCondition[] | null;
  readonly pace_limit: number | null;
  readonly pace_seconds: number | null;
  readonly paused_utc: Date | null;
  /** Its own headers, sealed. */
  readonly headers: Buffer | null;
}

/** A paused or paced subscription's attempts come from its queue only, which grants them. */
export const isThrottled = ({ paused_utc, pace_limit }: SubscriptionTarget): boolean =>
  paused_utc != null || pace_limit != null;

/** An event whose deliveries this process makes, until the lease of its outbox row ends. */
export interface TakenEvent extends Pick<DeliveryKey, 'company_id' | 'event_id' | 'created_utc'> {
  leaseMs: number;
  readonly open: Map<number, LeasedDelivery>;
  readonly missed: LeasedDelivery[];
}

export const companyOf = ({ company_id }: { readonly company_id: number }): number => company_id;

export const queueName = ({ company_id, subscription_id }: QueueKey): string =>
  `${company_id}.${subscription_id}`;

export const queuesOf = (keys: readonly QueueKey[]): readonly QueueKey[] => [
  ...new Map(keys.map((key) => [queueName(key), key])).values(),
];

export const deliveryName = ({ company_id, event_id, subscription_id, replay_id }: DeliveryKey): string =>
  `${company_id}.${event_id}.${subscription_id}.${replay_id}`;

/** For the log. */
export const idsOf = ({ company_id, event_id, subscription_id, replay_id }: DeliveryKey) => ({
  companyId: company_id,
  eventId: event_id,
  subscriptionId: subscription_id,
  ...(replay_id > 0 && { replayId: replay_id }),
});

/** Whether the delivery has no row yet, as far as this process knows. */
export const hasNoRow = ({ event, subscription_id }: LeasedDelivery): boolean =>
  event?.open.has(subscription_id) ?? false;
