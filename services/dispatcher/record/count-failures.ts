import { failuresUntilDisabled, failuresUntilProbing } from '@causeway/proto';
import { nextDueMs } from '@causeway/runtime';

/** The result of an attempt, for the failure count of its subscription. */
export interface CountedResult {
  readonly succeeded: boolean;
  /** The attempt was a probe: the only attempt at a time of a failing subscription. */
  readonly probe: boolean;
  /** False for a replay, and if another process had the lease of the delivery by then. */
  readonly counts: boolean;
  /** When its delivery is due for a retry. */
  readonly retryMs: number | null;
}

export interface FailureCount {
  readonly failures: number;
  /** All failed attempts since the last success, including those that do not count as consecutive. */
  readonly failedAttempts: number;
  readonly nextMs: number | null;
  readonly isDisabling: boolean;
}

/**
 * Counts results into a queue's row, in the order in which they ended.
 *
 * Any success resets the count. From the fifth consecutive failure on only probes count, so all attempts under way
 * when the receiver went down count as five at most. A restart of seconds then costs a few of the fifteen further
 * probes that it takes to disable a subscription.
 */
export const countFailures = (
  before: { readonly failures: number; readonly failedAttempts: number; readonly nextMs: number | null },
  results: readonly CountedResult[],
  { nowMs, probeIntervalMs }: { readonly nowMs: number; readonly probeIntervalMs: number },
): FailureCount => {
  let { failures, failedAttempts } = before;
  for (const { succeeded, probe, counts } of results) {
    if (!counts) continue;
    if (succeeded) failures = failedAttempts = 0;
    else {
      failedAttempts++;
      if (probe || failures < failuresUntilProbing) failures++;
    }
  }
  failures = Math.min(failures, failuresUntilDisabled);
  const failed = before.failures >= failuresUntilProbing;
  const fails = failures >= failuresUntilProbing;
  const probed = results.some(({ probe }) => probe);
  if (failed && !fails) return { failures, failedAttempts, nextMs: nowMs, isDisabling: false };
  if (fails && (probed || !failed))
    return {
      failures,
      failedAttempts,
      nextMs: nowMs + probeIntervalMs,
      isDisabling: failures >= failuresUntilDisabled,
    };
  const retries = results.flatMap(({ retryMs }) => retryMs ?? []);
  const nextMs = retries.reduce<number | null>(
    (next, retryMs) => nextDueMs(next, retryMs, failures),
    before.nextMs,
  );
  return { failures, failedAttempts, nextMs, isDisabling: false };
};
