import { longestProbeRetryAfterMs } from '@causeway/proto';
import type { Decision } from '../delivery.ts';

export interface AttemptAnswer {
  readonly statusCode: number | null;
  /** Null for a 2xx. */
  readonly errorClass: string | null;
  readonly retryAfter: string | null;
  readonly wasUnread?: boolean;
}

/**
 * Contract, "Deliveries". The wait after attempt n is the schedule's n-th entry with 10 % jitter.
 * `Retry-After` on a 429 or 503 can lengthen it, never shorten it. A first attempt that the receiver can hardly have read is
 * repeated at once, as an attempt with its own number, and counts as no failure.
 */
export const decide = (
  { statusCode, errorClass, retryAfter, wasUnread = false }: AttemptAnswer,
  { attempt, scheduleMs, nowMs, random }: DecideOptions,
): Decision => {
  if (errorClass === null) return { outcome: 'succeeded' };
  if (wasUnread && attempt === 1)
    return { outcome: 'retry', dueMs: nowMs, gone: false, notBeforeMs: nowMs, isUncounted: true };
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

/**
 * Seconds or a date (RFC 9110, 10.2.3), and what receivers send for them: fractions, a header that a proxy has doubled, seconds or
 * milliseconds since 1970, dates with an offset (`date('r')` of PHP) and ISO 8601.
 */
export const retryAfterMs = (header: string | null, nowMs: number): number | undefined => {
  const text = header?.trim() ?? '';
  const after = (timeMs: number) => (timeMs > nowMs ? Math.ceil(timeMs - nowMs) : undefined);
  const number = /^(\d{1,13}(?:\.\d{1,9})?)(?:\s*,\s*\1)*$/.exec(text)?.[1];
  if (number !== undefined) {
    const value = Number(number);
    if (value < leastEpochS) return Math.ceil(value * 1000);
    return after(value < leastEpochMs ? value * 1000 : value);
  }
  // `Date.parse` alone accepts nearly any text. A date without a zone is one in GMT.
  if (!/^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? |^\d{4}-\d\d-\d\dT/.test(text))
    return undefined;
  return after(Date.parse(/(GMT|UTC|Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text} GMT`));
};

/** In 2001, in seconds and in milliseconds: as a wait, 31 years. */
const leastEpochS = 1e9;
const leastEpochMs = 1e12;
