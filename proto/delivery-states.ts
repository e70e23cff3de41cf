/** The states of a delivery. Only waiting deliveries are attempted. */
export const deliveryStates = ['waiting', 'held', 'succeeded', 'failed', 'dropped'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/**
 * Why an attempt failed. `status`: the answer was neither 2xx nor 3xx. `redirect`: a 3xx, which is not followed.
 * `connect`: the connection was refused or not answered. `reset`: it ended early, or the receiver did not speak HTTP.
 * `dns`: the host name does not resolve to an address that deliveries can go to. `blocked_address`: deliveries may
 * not go to the host, scheme or port of the URL.
 */
export const errorClasses = [
  'dns',
  'connect',
  'tls',
  'timeout',
  'reset',
  'redirect',
  'blocked_address',
  'status',
] as const;
export type ErrorClass = (typeof errorClasses)[number];

/**
 * The message of class `dns`, for a name that does not exist, has no address, or resolves to a blocked address. All
 * three read the same: otherwise test deliveries would tell a tenant which names exist in the private network.
 */
export const unresolvedHost = (host: string): string =>
  `The host ${host} does not resolve to an address that deliveries can go to.`;

/**
 * Delay between holding deliveries and counting them. Longer than the lease of an attempt, so that attempts under way
 * have ended by then.
 */
export const countHeldAfterMs = 60_000;

/** Upper bounds in milliseconds of the histogram columns of `delivery_minutes`. */
export const elapsedBoundsMs = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;

/** From this many consecutive failures on, a subscription gets one attempt at a time (contract, "Auto-disable"). */
export const failuresUntilProbing = 5;
/** This many consecutive failures disable a subscription (contract, "Deliveries"). */
export const failuresUntilDisabled = 20;

/** Defaults that an installation can change (contract, "Deliveries"). */

const [second, minute, hour] = [1000, 60_000, 3_600_000] as const;

/** The backoff before each retry of a delivery, counted from the previous attempt. */
export const retryScheduleMs: readonly number[] = [
  5 * second,
  15 * second,
  45 * second,
  2 * minute,
  6 * minute,
  20 * minute,
  1 * hour,
  2 * hour,
  4 * hour,
  8 * hour,
];

/** Time limit for a whole attempt. */
export const attemptTimeoutMs = 10 * second;

/** The wait before the first probe of a failing subscription. Each failed probe doubles it, up to `longestProbeWait`. */
export const probeIntervalMs = second;
/** The longest wait between two probes, in probe intervals. */
export const longestProbeWait = 60;
/** The longest `Retry-After` that the next probe waits for. */
export const longestProbeRetryAfterMs = hour;

/**
 * A replay makes more deliveries only while fewer than this many of the subscription's deliveries are due and not
 * taken, so that live traffic hardly waits behind it. First attempts do not wait in the queue at all.
 */
export const maxDueInReplay = 100;
export const replayPageEveryMs = 250;

/** The most deliveries that a replay makes in a second. */
export const fastestReplayPerSecond = (maxDueInReplay * 1000) / replayPageEveryMs;

/** Retention of events, deliveries and attempts, in whole days. */
export const retentionDays = 30;

/** Maximum number of waiting deliveries of one company (contract, "Quotas"). */
export const waitingDeliveriesQuota = 1_000_000;

/**
 * `type` of a verification challenge (contract, "Endpoint verification"). It is not an event type: nobody can
 * subscribe to it.
 */
export const challengeType = 'endpoint.verification';

/** The `disabledReason` of a subscription that is enabled as soon as its receiver echoes a challenge. */
export const unverifiedReason = 'waiting for the receiver to echo the verification challenge';

/**
 * Deadline of enabling, which may send a challenge. The receiver has as long to echo it as to answer a test delivery.
 */
export const enablingDeadlineMs = 15_000;
