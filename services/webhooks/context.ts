import type { DeliveryPorts, SubscriptionRow } from '@causeway/deliveries';
import { waitingDeliveriesQuota } from '@causeway/proto';
import type { Bus, Database, KeyRing, Log, Once } from '@causeway/runtime';
import type { WebhooksCursors } from './cursors.ts';
import type { Editor } from './subscriptions/editor.ts';
import type { Tables } from './tables.ts';

export interface WebhooksContext {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly once: Once<Tables>;
  readonly log: Log;
  readonly keyRing: KeyRing;
  readonly targets: TargetRules;
  readonly quotas: Quotas;
  readonly cursors: WebhooksCursors;
  readonly challenges: Challenges;
  readonly now: () => Date;
  readonly random: (bytes: number) => Uint8Array;
}

/** Challenges sent in the background, after a create or a change of the URL. */
export interface Challenges {
  /** Sends a challenge. If this process dies first, enabling the subscription sends another one. */
  send(editor: Editor, subscription: Pick<SubscriptionRow, 'company_id' | 'subscription_id'>): void;
  drain(): Promise<void>;
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
