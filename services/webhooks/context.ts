import { type DeliveryPorts, type KeyRing, waitingDeliveriesQuota } from '@causeway/proto';
import type { Bus, Database, Log, Tracer } from '@causeway/runtime';
import type { WebhooksCursors } from './cursors.ts';
import type { Tables } from './tables.ts';
import type { Challenges } from './verification/challenges.ts';

/** What the handlers of this service work with. */
export interface WebhooksContext {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly tracer: Tracer | undefined;
  readonly keyRing: KeyRing;
  readonly targets: TargetRules;
  readonly quotas: Quotas;
  readonly cursors: WebhooksCursors;
  readonly challenges: Challenges;
  readonly now: () => Date;
  /** Secure random bytes. */
  readonly random: (bytes: number) => Uint8Array;
}

/** What a subscription's URL may be, beyond what the contract says. */
export interface TargetRules {
  readonly allowHttp: boolean;
  readonly allowPrivate: boolean;
  /** The ports that are named, if any are (`deliveryPorts`). */
  readonly ports?: DeliveryPorts | undefined;
}

/** How much a company may have (contract, "Quotas"). */
export interface Quotas {
  readonly subscriptions: number;
  readonly waitingDeliveries: number;
}

export const defaultQuotas: Quotas = { subscriptions: 1_000, waitingDeliveries: waitingDeliveriesQuota };
