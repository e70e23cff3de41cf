import { failuresUntilDisabled, failuresUntilProbing } from '@causeway/proto';
import { nextDueMs } from '@causeway/runtime';

/** What an attempt means for its subscription's streak of failures. */
export interface StreakResult {
  readonly succeeded: boolean;
  /** It was the one attempt at a time of a failing subscription. */
  readonly probe: boolean;
  /** False for a replay's, and where the delivery was another's by then. */
  readonly counts: boolean;
  /** When its delivery is to be tried again. */
  readonly retryMs: number | null;
}

export interface Streak {
  readonly failures: number;
  /** All failed attempts since the last success, also those that are not counted. */
  readonly failedAttempts: number;
  readonly nextMs: number | null;
  readonly isOver: boolean;
}

/**
 * Counts results into a queue's row, in the order in which they ended.
 *
 * Any success begins anew. From the fifth failure in a row on only probes count: what was under way when the
 * receiver went down, however much, counts no further than five. So a restart of seconds costs a few probes of
 * the fifteen that it takes to switch a subscription off.
 */
export const countStreak = (
  before: { readonly failures: number; readonly failedAttempts: number; readonly nextMs: number | null },
  results: readonly StreakResult[],
  { nowMs, probeIntervalMs }: { readonly nowMs: number; readonly probeIntervalMs: number },
): Streak => {
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
  if (failed && !fails) return { failures, failedAttempts, nextMs: nowMs, isOver: false };
  if (fails && (probed || !failed))
    return {
      failures,
      failedAttempts,
      nextMs: nowMs + probeIntervalMs,
      isOver: failures >= failuresUntilDisabled,
    };
  const retries = results.flatMap(({ retryMs }) => retryMs ?? []);
  const nextMs = retries.reduce<number | null>(
    (next, retryMs) => nextDueMs(next, retryMs, failures),
    before.nextMs,
  );
  return { failures, failedAttempts, nextMs, isOver: false };
};
