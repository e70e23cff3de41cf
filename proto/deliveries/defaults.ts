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
