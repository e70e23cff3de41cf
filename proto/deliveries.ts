import type { AuditSource } from './audit-log.ts';
import type { challengeType, ErrorClass } from './delivery-states.ts';
import type { EventType } from './events.ts';

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

/**
 * A test delivery or a verification challenge, which `webhooks` requests from a dispatcher (NATS request to
 * `testDeliverySubject`, JSON).
 */
export interface TestDelivery {
  readonly companyId: number;
  readonly subscriptionId: number;
  /** The value of `X-Webhook-Id`, and the `id` in the body. */
  readonly eventId: number;
  readonly eventType: EventType | typeof challengeType;
  /** The whole envelope, as sent. */
  readonly body: string;
}

/** The result. Dates are ISO text and the response body is base64, because JSON has neither type. */
export type TestDeliveryAnswer =
  | {
      readonly attempt: Omit<AttemptFacts, 'started_utc' | 'response_body'> & {
        readonly started_utc: string;
        readonly response_body: string | null;
      };
    }
  /** No attempt was possible: the subscription was deleted, or its secret cannot be decrypted. */
  | { readonly error: string };

/**
 * The lease of a delivery: longer than an attempt can take, including its waits. When it expires, the delivery is due
 * again; if the dispatcher that it names dies, soon after that.
 */
export const leaseMs = 30_000;

/**
 * The lease that an event's outbox row is born with, from the event's time. The dispatcher that gets the event's
 * message acts on it until then without asking the database. A row whose lease has expired was lost on the way; any
 * dispatcher takes it.
 */
export const outboxLeaseMs = 1_500;

/** A header as sent or received. */
export type HeaderPair = readonly [name: string, value: string];

/** The facts of one attempt, as stored and shown. */
export interface AttemptFacts {
  readonly started_utc: Date;
  readonly elapsed_ms: number;
  readonly dns_ms: number | null;
  readonly connect_ms: number | null;
  readonly tls_ms: number | null;
  readonly first_byte_ms: number | null;
  readonly url: string;
  readonly address: string | null;
  readonly status_code: number | null;
  /** Null for a 2xx. */
  readonly error_class: ErrorClass | null;
  /** One sentence for people. */
  readonly error: string | null;
  readonly request_headers: readonly HeaderPair[];
  readonly response_headers: readonly HeaderPair[] | null;
  /** At most 16 KiB. */
  readonly response_body: Buffer | null;
  readonly response_truncated: number;
}
