import type { DeliveryState, ErrorClass } from '../deliveries/states.ts';
import type { EventType } from '../events.ts';

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
