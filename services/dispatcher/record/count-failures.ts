import { nextDueMs, type QueueDue } from '@causeway/deliveries';
import {
  type EventType,
  failuresUntilDisabled,
  failuresUntilProbing,
  longestProbeWait,
} from '@causeway/proto';

export interface CountedResult {
  readonly succeeded: boolean;
  readonly probe: boolean;
  /** False for a replay, and if another process had the lease of the delivery by then. */
  readonly counts: boolean;
  readonly retryMs: number | null;
  readonly notBeforeMs: number;
}

interface FailureCount extends QueueDue {
  /** Since the last success, including attempts that do not count as consecutive failures. */
  readonly failedAttempts: number;
  readonly isDisabling: boolean;
}

/**
 * Counts results in the order in which they ended. From the fifth consecutive failure on only probes count,
 * so all attempts under way when the receiver went down count as five at most. The wait before the next probe
 * doubles with each failure, so the fifteen further probes that disable a subscription take ten minutes.
 */
export const countFailures = (
  before: QueueDue & { readonly failedAttempts: number },
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
  const counted = { failures, failedAttempts, isDisabling: false };
  if (failed && !fails) return { ...counted, nextMs: nowMs, probeMs: null };
  const askedMs = Math.max(nowMs, ...results.map(({ notBeforeMs }) => notBeforeMs));
  if (fails && (probed || !failed)) {
    const probeMs = Math.max(nowMs + probeWaitMs(failures, probeIntervalMs), askedMs);
    return { ...counted, nextMs: probeMs, probeMs, isDisabling: failures >= failuresUntilDisabled };
  }
  const probeMs = fails ? Math.max(before.probeMs ?? nowMs, askedMs) : null;
  const retries = results.flatMap(({ retryMs }) => retryMs ?? []);
  const nextMs = retries.reduce<number | null>(
    (next, retryMs) => nextDueMs({ nextMs: next, probeMs, failures }, retryMs),
    before.nextMs,
  );
  return { ...counted, nextMs: nextMs === null ? null : Math.max(nextMs, probeMs ?? nextMs), probeMs };
};

/** The types that have failed since the last success, the latest last. */
export const failedTypes = (
  before: readonly EventType[],
  results: readonly (Pick<CountedResult, 'succeeded' | 'counts'> & { readonly type: EventType })[],
): readonly EventType[] =>
  results.reduce((failed, { succeeded, counts, type }) => {
    if (!counts) return failed;
    return succeeded ? [] : [...failed.filter((one) => one !== type), type];
  }, before);

const probeWaitMs = (failures: number, probeIntervalMs: number): number =>
  probeIntervalMs * Math.min(2 ** (failures - failuresUntilProbing), longestProbeWait);
