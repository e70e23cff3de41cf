import type { DeliveryKey } from '@causeway/deliveries';
import type { EventType } from '@causeway/proto';

/** A delivery that this process has leased in order to make one attempt. */
export interface Job extends LeasedDelivery {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Where it came from: the match of its event, or its queue. */
  readonly source: 'first' | 'queue';
  /** True for the single attempt at a time of a failing subscription. */
  readonly probe: boolean;
  readonly target: Target;
  /** The envelope. */
  readonly body: Buffer;
}

/** Where a delivery goes and what signs it: the subscription as it was when the delivery was taken. */
export interface Target {
  readonly url: string;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly previous_secret_until: Date | null;
  readonly consecutive_failures: number;
}

/** The key of a subscription and its queue. */
export interface QueueKey {
  readonly company_id: number;
  readonly subscription_id: number;
}

export const queueName = ({ company_id, subscription_id }: QueueKey): string =>
  `${company_id}.${subscription_id}`;

/** Sorts in the order of the tables' keys, so that two transactions cannot deadlock. */
export const byQueue = (a: QueueKey, b: QueueKey): number =>
  a.company_id - b.company_id || a.subscription_id - b.subscription_id;

export const deliveryName = ({ company_id, event_id, subscription_id, replay_id }: DeliveryKey): string =>
  `${company_id}.${event_id}.${subscription_id}.${replay_id}`;

/** An event whose deliveries this process makes, until the lease of its outbox row ends. */
export interface TakenEvent extends Pick<DeliveryKey, 'company_id' | 'event_id' | 'created_utc'> {
  /** The end of the lease. */
  leaseMs: number;
  /** The deliveries of it that have no row yet, by subscription. */
  readonly open: Map<number, LeasedDelivery>;
  /** Those without room at the quota of waiting deliveries. */
  readonly missed: LeasedDelivery[];
  /** The W3C trace context of its message, if it is traced. */
  readonly traceparent?: string | undefined;
}

/** A delivery that this process has leased. */
export type LeasedDelivery = DeliveryKey & {
  readonly event_type: EventType;
  readonly leaseMs: number;
  /** The ID under which this process leases its row (`Holder`); undefined while it has none. */
  holder?: number | undefined;
  /** The event it belongs to, if it was matched here: it may have no row yet. Absent: it was taken from its queue. */
  readonly event?: TakenEvent;
};

/** Whether the delivery has no row yet, as far as this process knows. */
export const hasNoRow = ({ event, subscription_id }: LeasedDelivery): boolean =>
  event?.open.has(subscription_id) ?? false;
