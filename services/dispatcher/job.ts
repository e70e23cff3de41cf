import type { DeliveryKey } from '@causeway/proto';
import type { LeasedDelivery } from './intake/taken-events.ts';

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
