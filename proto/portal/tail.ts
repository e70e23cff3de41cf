import type { DeliveryState, ErrorClass } from '../deliveries/states.ts';
import type { EventType } from '../events.ts';

/**
 * The live tail of a company's deliveries: server-sent events, below `portalBasePath`, for a session of any
 * role. It is no operation of the table, as the gateway serves it by itself from what dispatchers broadcast.
 * Events of the stream: `ready` (no data; from here on nothing is missed but under back-pressure),
 * `attempts` (a JSON array of `DeliveryTailEntry`, oldest first), `dropped` (a JSON number: how many were left
 * out because the browser was too slow) and `end` (the session is over; do not come back). Beyond the limits of a
 * session and a company: 429 that says which. These are configuration, for each gateway.
 */
export const deliveryTailPath = '/deliveries/tail';

/** One finished attempt. Dispatchers publish JSON arrays of at most `maxTailEntries` of them. */
export interface DeliveryTailEntry {
  readonly eventId: number;
  readonly subscriptionId: number;
  readonly replayId: number;
  readonly eventType: EventType;
  readonly attempt: number;
  /** What became of the delivery with this attempt. */
  readonly state: DeliveryState;
  readonly statusCode: number | null;
  readonly errorClass: ErrorClass | null;
  readonly elapsedMs: number;
  /** ISO 8601, UTC. */
  readonly startedUtc: string;
  readonly nextAttemptUtc: string | null;
}

export const maxTailEntries = 100;
