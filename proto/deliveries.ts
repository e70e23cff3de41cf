import type { AuditSource } from './audit-log.ts';
import type { challengeType, ErrorClass } from './delivery-states.ts';
import type { EventType } from './events.ts';
import type { NoticeChannel, OperationalType } from './notices.ts';

/** The request to a dispatcher may get lost: the command is a row. */
export type DeliveryCommand =
  | { readonly companyId: number; readonly replayId: number }
  | { readonly companyId: number; readonly subscriptionId: number };

/** A dispatcher carries it out before it answers. If the request gets lost, nothing has changed. */
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

export interface TestDelivery {
  readonly companyId: number;
  readonly subscriptionId: number;
  readonly eventId: number;
  readonly eventType: EventType | typeof challengeType | OperationalType;
  /** Who asked for it (contract, "Changes"). Absent for a notice to a channel, which nobody asks for. */
  readonly origin?: string;
  readonly body: string;
  /** A notice for this channel of the company; `subscriptionId` is 0 then. */
  readonly channel?: NoticeChannel;
}

/** Dates are ISO text and the response body is base64, because JSON has neither type. */
export type TestDeliveryAnswer =
  | {
      readonly attempt: Omit<AttemptFacts, 'started_utc' | 'response_body'> & {
        readonly started_utc: string;
        readonly request_headers: readonly HeaderPair[];
        readonly response_headers: readonly HeaderPair[] | null;
        readonly response_body: string | null;
      };
    }
  /** `underWay`: nothing was sent, because so many of the company are under way. */
  | { readonly error: string; readonly underWay?: number };

/** Longer than an attempt can take, its waits included. */
export const leaseMs = 30_000;

/** Until then, the dispatcher with the event's message acts without the database; later any takes the row. */
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
  /** At most 16 KiB. */
  readonly response_body: Buffer | null;
  readonly response_truncated: number;
}
