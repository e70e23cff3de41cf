import { retryAfterMs } from './retry-after.ts';

/** What happens to a delivery after an attempt. */
export type Decision =
  | { readonly outcome: 'succeeded' }
  /** Retry at `dueMs`. `gone`: the receiver answered 410, so the dispatcher disables the subscription. */
  | { readonly outcome: 'retry'; readonly dueMs: number; readonly gone: boolean }
  | { readonly outcome: 'failed'; readonly gone: boolean };

export interface Attempted {
  readonly statusCode: number | null;
  /** Null for a 2xx. */
  readonly errorClass: string | null;
  readonly retryAfter: string | null;
}

/**
 * The retry rules (contract, "Deliveries"). The wait after attempt n is the schedule's n-th entry with 10 % jitter.
 * `Retry-After` on a 429 or 503 can lengthen it, never shorten it.
 * @param random at least 0, less than 1.
 */
export const decide = (
  { statusCode, errorClass, retryAfter }: Attempted,
  { attempt, scheduleMs, nowMs, random }: DecideOptions,
): Decision => {
  if (errorClass === null) return { outcome: 'succeeded' };
  const gone = statusCode === 410;
  const plannedMs = scheduleMs[attempt - 1];
  if (plannedMs === undefined) return { outcome: 'failed', gone };
  const variedMs = Math.round(plannedMs * (1 + jitter * (2 * random - 1)));
  const askedMs = statusCode === 429 || statusCode === 503 ? (retryAfterMs(retryAfter, nowMs) ?? 0) : 0;
  return { outcome: 'retry', dueMs: nowMs + Math.max(variedMs, Math.min(askedMs, maxAskedMs)), gone };
};

const jitter = 0.1;
const maxAskedMs = 8 * 3_600_000;

export interface DecideOptions {
  /** Number of the attempt just made, from 1. */
  readonly attempt: number;
  readonly scheduleMs: readonly number[];
  readonly nowMs: number;
  readonly random: number;
}
