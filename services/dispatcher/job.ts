import type { DeliveryKey, EventType } from '@causeway/proto';
import type { Held } from './intake/announced.ts';

/** One delivery that this process has taken, to make one attempt of. */
export interface Job extends Held {
  readonly event_type: EventType;
  /** Which attempt this will be, from 1. */
  readonly attempt: number;
  /** Whether it is a first attempt that a wake announced, or was taken from its queue. */
  readonly lane: 'first' | 'queue';
  /** The subscription was failing when this was taken, and this is its one attempt at a time. */
  readonly probe: boolean;
  readonly target: Target;
  /** The envelope. */
  readonly body: Buffer;
}

/** Where a delivery goes and what signs it: a subscription's row, as it is when its delivery is taken. */
export interface Target {
  readonly url: string;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly previous_secret_until: Date | null;
  readonly consecutive_failures: number;
}

/** What names a subscription and its queue. */
export interface QueueKey {
  readonly company_id: number;
  readonly subscription_id: number;
}

export const queueName = ({ company_id, subscription_id }: QueueKey): string =>
  `${company_id}.${subscription_id}`;

/** In the order of the tables' keys, so that two transactions wait for each other only one way. */
export const byQueue = (a: QueueKey, b: QueueKey): number =>
  a.company_id - b.company_id || a.subscription_id - b.subscription_id;

export const deliveryName = ({ company_id, event_id, subscription_id, replay_id }: DeliveryKey): string =>
  `${company_id}.${event_id}.${subscription_id}.${replay_id}`;
