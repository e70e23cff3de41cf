/** Defaults that an installation can change (contract, "Deliveries"). */

const [second, minute, hour] = [1000, 60_000, 3_600_000] as const;

/** The waits before the retries of a delivery, each counted from the attempt before it. */
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

/** The least time between two attempts to a failing subscription. */
export const probeIntervalMs = second;

/** Whole days for which events, deliveries and attempts are kept. */
export const retentionDays = 30;

/** Deliveries of one company that may wait at a time (contract, "Quotas"). */
export const waitingDeliveriesQuota = 1_000_000;
