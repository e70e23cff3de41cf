import { nextDueMs, type QueueDue } from '@causeway/deliveries';
import {
  type ErrorClass,
  type EventType,
  failuresUntilDisabled,
  failuresUntilProbing,
  longestProbeWait,
} from '@causeway/proto';

export interface FirstFailure {
  readonly sinceUtc: Date;
  readonly statusCode: number | null;
  readonly errorClass: ErrorClass;
}

export interface CountedResult {
  readonly succeeded: boolean;
  readonly type: EventType;
  /** Null after a success. */
  readonly failure: FirstFailure | null;
  readonly probe: boolean;
  /** False for a replay, and if another process had the lease of the delivery by then. */
  readonly counts: boolean;
  readonly retryMs: number | null;
  readonly notBeforeMs: number;
}

interface FailureCount extends QueueDue {
  /** Since the last success, including attempts that do not count as consecutive failures. */
  readonly failedAttempts: number;
  /** The types that have failed since the last success, the latest last. */
  readonly types: readonly EventType[];
  /** The first counted failure since the last success. */
  readonly first: FirstFailure | null;
}

/**
 * Counts results in the order in which they ended. From the fifth consecutive failure on only probes count,
 * so all attempts under way when the receiver went down count as five at most. The wait before the next probe
 * doubles with each failure, so the fifteen further probes that disable a subscription take ten minutes.
 */
export const countFailures = (
  before: FailureCount,
  results: readonly CountedResult[],
  { nowMs, probeIntervalMs }: { readonly nowMs: number; readonly probeIntervalMs: number },
): FailureCount & { readonly isDisabling: boolean } => {
  let { failures, failedAttempts, types, first } = before;
  for (const { succeeded, probe, counts, type, failure } of results) {
    if (succeeded) first = null;
    if (!counts) continue;
    if (succeeded) {
      failures = failedAttempts = 0;
      types = [];
      continue;
    }
    failedAttempts++;
    types = [...types.filter((one) => one !== type), type];
    first ??= failure;
    if (probe || failures < failuresUntilProbing) failures++;
  }
  failures = Math.min(failures, failuresUntilDisabled);
  const failed = before.failures >= failuresUntilProbing;
  const fails = failures >= failuresUntilProbing;
  const probed = results.some(({ probe }) => probe);
  const counted = { failures, failedAttempts, types, first, isDisabling: false };
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

const probeWaitMs = (failures: number, probeIntervalMs: number): number =>
  probeIntervalMs * Math.min(2 ** (failures - failuresUntilProbing), longestProbeWait);
