/** The states of a delivery. Only waiting deliveries are attempted. */
export const deliveryStates = ['waiting', 'held', 'succeeded', 'failed', 'dropped'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/**
 * `status`: neither 2xx nor 3xx. `redirect`: a 3xx, which is not followed. `connect`: refused or not
 * answered. `reset`: it ended early, or was not HTTP. `dns`: the name does not resolve to an allowed address.
 * `blocked_address`: deliveries may not go to the host, scheme or port.
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
 * One message for names that do not exist, have no address or resolve to a blocked one: otherwise test
 * deliveries would tell a tenant which names exist in the private network.
 */
export const unresolvedHost = (host: string): string =>
  `The host ${host} does not resolve to an address that deliveries can go to.`;

/** Between holding deliveries and counting them: attempts under way have ended by then. */
export const countHeldAfterMs = 60_000;

export const elapsedBoundsMs = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;

/** From this many consecutive failures on, a subscription gets one attempt at a time (contract, "Auto-disable"). */
export const failuresUntilProbing = 5;
/** This many consecutive failures disable a subscription (contract, "Deliveries"). */
export const failuresUntilDisabled = 20;

/** Defaults that an installation can change (contract, "Deliveries"). */

const [second, minute, hour] = [1000, 60_000, 3_600_000] as const;

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

export const attemptTimeoutMs = 10 * second;

/**
 * Before the first probe of a failing subscription; each failed probe doubles it, up to `longestProbeWait`.
 */
export const probeIntervalMs = second;
/** In probe intervals. */
export const longestProbeWait = 60;
/** A longer `Retry-After` is not waited for. */
export const longestProbeRetryAfterMs = hour;

/**
 * A replay pauses while this many deliveries of its subscription are due, so that it delays no live traffic.
 */
export const maxDueInReplay = 100;
export const replayPageEveryMs = 250;

export const fastestReplayPerSecond = (maxDueInReplay * 1000) / replayPageEveryMs;

export const retentionDays = 30;

/** Maximum number of waiting deliveries of one company (contract, "Quotas"). */
export const waitingDeliveriesQuota = 1_000_000;

/** Not an event type: nobody can subscribe to it. */
export const challengeType = 'endpoint.verification';

/** The `disabledReason` of a subscription that is enabled as soon as its receiver echoes a challenge. */
export const unverifiedReason = 'waiting for the receiver to echo the verification challenge';

/** Enabling may send a challenge, which the receiver must echo within `attemptTimeoutMs`. */
export const enablingDeadlineMs = 15_000;
