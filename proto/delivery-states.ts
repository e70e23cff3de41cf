/** Only waiting deliveries are attempted. */
export const deliveryStates = ['waiting', 'held', 'succeeded', 'failed', 'dropped'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/**
 * `redirect` is a 3xx, which is not followed. `connect`: refused or not answered. `reset`: ended early, or
 * not HTTP. `dns`: no allowed address. `blocked_address`: the host, scheme or port of the URL is not allowed.
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

/** One message for all causes: test deliveries must not tell which names exist in the private network. */
export const unresolvedHost = (host: string): string =>
  `The host ${host} does not resolve to an address that deliveries can go to.`;

/** Attempts under way have ended by then. */
export const countHeldAfterMs = 60_000;

export const elapsedBoundsMs = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;

/** Contract, "Auto-disable": from then on, one attempt at a time. */
export const failuresUntilProbing = 5;
/** Contract, "Deliveries". */
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

/** Before the first probe; each failed probe doubles it, up to `longestProbeWait`. */
export const probeIntervalMs = second;
/** In probe intervals. */
export const longestProbeWait = 60;
/** A longer `Retry-After` is not waited for. */
export const longestProbeRetryAfterMs = hour;

/** A replay pauses while so many deliveries of its subscription are due, to delay no live traffic. */
export const maxDueInReplay = 100;
export const replayPageEveryMs = 250;

export const fastestReplayPerSecond = (maxDueInReplay * 1000) / replayPageEveryMs;

export const retentionDays = 30;

/** Contract, "Quotas". */
export const waitingDeliveriesQuota = 1_000_000;

export const challengeType = 'endpoint.verification';

export const unverifiedReason = 'waiting for the receiver to echo the verification challenge';

/** Enabling may send a challenge, which the receiver must echo within `attemptTimeoutMs`. */
export const enablingDeadlineMs = 15_000;
