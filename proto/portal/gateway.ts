import type { DeliveryState, ErrorClass } from '../delivery-states.ts';
import type { EventType } from '../events.ts';
import type { Bucket } from '../operation.ts';
import type { ActorUser } from '../portal.ts';

/** Sent by the gateway itself, and not in the table of operations. */
export const resolveSessionOperation = 'resolveSession';

export interface ResolveSession {
  readonly token: string;
  /** The request does not extend the session. */
  readonly passive: boolean;
}

/** Marks a GET as a background request of a page, such as a refresh: it does not extend the session. */
export const passiveHeader = 'x-passive';

/** An unknown token gets 401. */
export interface ResolvedSession {
  readonly companyId: number;
  readonly user: ActorUser;
  readonly proof: string;
}

/**
 * `access` hands a new session's token to the gateway, which sets it as a cookie; an empty value removes the
 * cookie. The header never leaves the gateway.
 */
export const sessionTokenHeader = 'Session-Token';

/** As `sessionTokenHeader`, for the cookie that marks the browser as a known device of the member. */
export const deviceHeader = 'Device';

/** Counted in one minute (Unix time in minutes), since the last report. */
export type RequestCount = readonly [
  companyId: number,
  keyId: number,
  bucket: Bucket,
  minute: number,
  answered: number,
  limited: number,
  failed: number,
];
export type RequestReport = readonly RequestCount[];
export const maxRequestCounts = 2000;

/**
 * The live tail of a company's deliveries: server-sent events, below `portalBasePath`, for a session of any role. It
 * is not in the table of operations, because the gateway serves it directly from what dispatchers broadcast. Events
 * of the stream: `ready` (no data; from now on nothing is missed except under back-pressure), `attempts` (a JSON
 * array of `DeliveryTailEntry`, oldest first), `dropped` (a JSON number: how many were omitted because the browser
 * was too slow) and `end` (the session is over; do not reconnect). Above the limit of a session or a company, the
 * answer is a 429 that says which. Each gateway configures these limits.
 */
export const deliveryTailPath = '/deliveries/tail';

export interface DeliveryTailEntry {
  readonly eventId: number;
  readonly subscriptionId: number;
  readonly replayId: number;
  readonly eventType: EventType;
  readonly attempt: number;
  /** The state of the delivery after this attempt. */
  readonly state: DeliveryState;
  readonly statusCode: number | null;
  readonly errorClass: ErrorClass | null;
  readonly elapsedMs: number;
  readonly startedUtc: string;
  readonly nextAttemptUtc: string | null;
}

export const maxTailEntries = 100;
