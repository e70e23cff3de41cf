import type { DeliveryState, ErrorClass } from '../delivery-states.ts';
import type { EventType } from '../events.ts';
import type { Bucket } from '../operation.ts';
import type { ActorUser } from '../portal.ts';

/** The gateway's own request to `access`, over its lane. It is not in the table of operations. */
export const resolveSessionOperation = 'resolveSession';

export interface ResolveSession {
  /** The value of the session cookie. */
  readonly token: string;
  /** The request does not extend the session: its idle time continues. */
  readonly passive: boolean;
}

/**
 * Marks a GET, with any value, as a background request of a page, such as a refresh. It does not extend the session:
 * the idle time continues.
 */
export const passiveHeader = 'x-passive';

/** The answer with status 200. An unknown token gets 401. */
export interface ResolvedSession {
  readonly companyId: number;
  readonly user: ActorUser;
  /** `SessionClaims`, signed: valid for a minute. */
  readonly proof: string;
}

/**
 * In this header of a lane answer, `access` hands a new session's token to the gateway, which sets it as a cookie. An
 * empty value removes the cookie. The header never leaves the gateway.
 */
export const sessionTokenHeader = 'Session-Token';

/** As `sessionTokenHeader`, for the cookie that marks the browser as a known device of the member. */
export const deviceHeader = 'Device';

/** What a gateway counted for one key in one bucket in one minute (Unix time in minutes), since its last report. */
export type RequestCount = readonly [
  companyId: number,
  keyId: number,
  bucket: Bucket,
  minute: number,
  answered: number,
  limited: number,
  failed: number,
];
/** A report, as JSON: at most `maxRequestCounts` counts. */
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

/** One finished attempt. Dispatchers publish JSON arrays of at most `maxTailEntries` of them. */
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
  /** ISO 8601, UTC. */
  readonly startedUtc: string;
  readonly nextAttemptUtc: string | null;
}

export const maxTailEntries = 100;
