import type { DeliveryPorts } from '@causeway/deliveries';
import { waitingDeliveriesQuota } from '@causeway/proto';
import type { Bus, Database, KeyRing, Log, Once, Tracer } from '@causeway/runtime';
import type { WebhooksCursors } from './cursors.ts';
import type { Challenges } from './subscriptions/verification.ts';
import type { Tables } from './tables.ts';

export interface WebhooksContext {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly once: Once<Tables>;
  readonly log: Log;
  readonly tracer: Tracer | undefined;
  readonly keyRing: KeyRing;
  readonly targets: TargetRules;
  readonly quotas: Quotas;
  readonly cursors: WebhooksCursors;
  readonly challenges: Challenges;
  readonly now: () => Date;
  readonly random: (bytes: number) => Uint8Array;
}

export interface TargetRules {
  readonly allowHttp: boolean;
  readonly allowPrivate: boolean;
  /** The allowed ports, if the installation restricts them (`deliveryPorts`). */
  readonly ports?: DeliveryPorts | undefined;
}

/** A company's quotas (contract, "Quotas"). */
export interface Quotas {
  readonly subscriptions: number;
  readonly waitingDeliveries: number;
}

export const defaultQuotas: Quotas = { subscriptions: 1_000, waitingDeliveries: waitingDeliveriesQuota };
