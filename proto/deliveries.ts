import type { AuditSource } from './audit-log.ts';
import type { challengeType, ErrorClass } from './delivery-states.ts';
import type { EventType } from './events.ts';

/**
 * A committed command that `webhooks` asks a dispatcher to begin. The empty answer says that its first step
 * is committed. The request may get lost: the command is a row, which the dispatchers find in time.
 */
export type DeliveryCommand =
  | { readonly companyId: number; readonly replayId: number }
  | { readonly companyId: number; readonly subscriptionId: number };

/**
 * An action that a dispatcher carries out before it answers. If the request gets lost, nothing has changed.
 */
export interface DeliveryAction {
  readonly companyId: number;
  readonly action: 'retry' | 'cancel' | 'release';
  readonly delivery: {
    readonly eventId: number;
    readonly subscriptionId: number;
    readonly replayId: number;
  };
  readonly by: AuditSource;
}

/** `refused` says why nothing changed; null if the action was carried out. */
export interface DeliveryActionAnswer {
  readonly refused: string | null;
}

/** A test delivery or a verification challenge. */
export interface TestDelivery {
  readonly companyId: number;
  readonly subscriptionId: number;
  readonly eventId: number;
  readonly eventType: EventType | typeof challengeType;
  readonly body: string;
}

/** Dates are ISO text and the response body is base64, because JSON has neither type. */
export type TestDeliveryAnswer =
  | {
      readonly attempt: Omit<AttemptFacts, 'started_utc' | 'response_body'> & {
        readonly started_utc: string;
        readonly response_body: string | null;
      };
    }
  /** No attempt was possible: the subscription was deleted, or its secret cannot be decrypted. */
  | { readonly error: string };

/** Longer than an attempt can take, its waits included. */
export const leaseMs = 30_000;

/**
 * The lease that an event's outbox row is born with. The dispatcher that gets the event's message acts on it
 * until then without asking the database; a row whose lease has expired was lost, and any dispatcher takes
 * it.
 */
export const outboxLeaseMs = 1_500;

export type HeaderPair = readonly [name: string, value: string];

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
  readonly error: string | null;
  readonly request_headers: readonly HeaderPair[];
  readonly response_headers: readonly HeaderPair[] | null;
  /** At most 16 KiB. */
  readonly response_body: Buffer | null;
  readonly response_truncated: number;
}
