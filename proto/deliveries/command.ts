import type { AuditSource } from '../audit-log.ts';

/**
 * A committed command that `webhooks` asks a dispatcher to begin (NATS request to `deliveryCommandSubject`, JSON). The
 * empty answer says that its first step is committed. The request may get lost: the command is a row, which the
 * dispatchers find in time.
 */
export type DeliveryCommand =
  | { readonly companyId: number; readonly replayId: number }
  /** The change of a subscription (`SubscriptionChangeRow`). */
  | { readonly companyId: number; readonly subscriptionId: number };

/**
 * A member's action on one delivery, which a dispatcher carries out before it answers (NATS request to
 * `deliveryCommandSubject`, JSON). It is no row: if the request gets lost, nothing has changed.
 */
export interface DeliveryAction {
  readonly companyId: number;
  readonly action: 'retry' | 'cancel' | 'release';
  readonly delivery: {
    readonly eventId: number;
    readonly subscriptionId: number;
    readonly replayId: number;
  };
  /** Who did it, for the audit log. */
  readonly by: AuditSource;
}

/** `refused`: why nothing changed; null if the action was carried out. */
export interface DeliveryActionAnswer {
  readonly refused: string | null;
}
