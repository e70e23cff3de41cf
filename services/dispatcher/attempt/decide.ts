import { longestProbeRetryAfterMs } from '@causeway/proto';
import type { Decision } from '../delivery.ts';

export interface AttemptAnswer {
  readonly statusCode: number | null;
  /** Null for a 2xx. */
  readonly errorClass: string | null;
  readonly retryAfter: string | null;
}

/**
 * Contract, "Deliveries". The wait after attempt n is the schedule's n-th entry with 10 % jitter.
 * `Retry-After` on a 429 or 503 can lengthen it, never shorten it.
 */
export const decide = (
  { statusCode, errorClass, retryAfter }: AttemptAnswer,
  { attempt, scheduleMs, nowMs, random }: DecideOptions,
): Decision => {
  if (errorClass === null) return { outcome: 'succeeded' };
  const gone = statusCode === 410;
  const askedMs = statusCode === 429 || statusCode === 503 ? (retryAfterMs(retryAfter, nowMs) ?? 0) : 0;
  const notBeforeMs = nowMs + Math.min(askedMs, longestProbeRetryAfterMs);
  const plannedMs = scheduleMs[attempt - 1];
  if (plannedMs === undefined) return { outcome: 'failed', gone, notBeforeMs };
  const variedMs = Math.round(plannedMs * (1 + jitter * (2 * random - 1)));
  const dueMs = nowMs + Math.max(variedMs, Math.min(askedMs, maxAskedMs));
  return { outcome: 'retry', dueMs, gone, notBeforeMs };
};

const jitter = 0.1;
const maxAskedMs = 8 * 3_600_000;

interface DecideOptions {
  readonly attempt: number;
  readonly scheduleMs: readonly number[];
  readonly nowMs: number;
  readonly random: number;
}

/** Whole seconds or a date (RFC 9110, 10.2.3). */
export const retryAfterMs = (header: string | null, nowMs: number): number | undefined => {
  const text = header?.trim() ?? '';
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  // Every HTTP-date begins with a weekday. `Date.parse` alone accepts nearly any text.
  if (!/^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? /.test(text)) return undefined;
  const waitMs = Date.parse(/(GMT|UTC|Z)$/.test(text) ? text : `${text} GMT`) - nowMs;
  return waitMs > 0 ? waitMs : undefined;
};
