import { allErrorCodes, type ErrorCode, errorCodes, type ProblemFacts, portalErrorCodes } from './errors.ts';
import type { Bucket, ErrorShape } from './operation.ts';

export interface RenderedProblem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Contract, "Requests and errors". Only a 500 depends on the request, so other answers can be rendered once.
 */
export const renderProblem = (
  shape: ErrorShape,
  facts: ProblemFacts,
  { requestId }: { readonly requestId: string },
): RenderedProblem => {
  const { code, publicMessage, details, extra } = facts;
  const { status } = allErrorCodes[code];
  const body: Record<string, unknown> =
    shape === 'lookup' ? { error_code: code, message: publicMessage } : { error: publicMessage };
  if (details) body.details = details;
  if (status === 500) body.requestId = requestId;
  if (status === 503 || status === 504 || namesReason.has(code)) body.reason = code;
  if (code === 'lock_timeout') {
    body.retryAfter = retryAfterSeconds;
    body.message = shape === 'lookup' ? publicMessage : lockTimeoutAdvice;
  }
  return {
    status,
    headers: headersOf(code, status, facts.headers),
    body: JSON.stringify(extra ? { ...body, ...extra } : body),
  };
};

const namesReason: ReadonlySet<string> = new Set([
  ...Object.keys(portalErrorCodes),
  'network_not_allowed',
  'cursor_expired',
  'version_mismatch',
  'already_exists',
  'duplicate_item',
  'idempotency_in_progress',
  'idempotency_key_reused',
]);

const retryAfterSeconds = 1;
const lockTimeoutAdvice = 'This is not a rate-limit violation. Retry after 1-2 seconds.';

const plainHeaders = Object.freeze({ 'Content-Type': 'application/json' });
const retryHeaders = Object.freeze({ ...plainHeaders, 'Retry-After': String(retryAfterSeconds) });
// RFC 9110 requires a challenge on every 401.
const challengeHeaders = Object.freeze({ ...plainHeaders, 'WWW-Authenticate': 'ApiKey header="X-Api-Key"' });
const sessionChallengeHeaders = Object.freeze({ ...plainHeaders, 'WWW-Authenticate': 'Session' });

const headersOf = (code: ErrorCode, status: number, more?: Readonly<Record<string, string>>) => {
  const headers =
    code === 'unauthorized'
      ? challengeHeaders
      : status === 401
        ? sessionChallengeHeaders
        : status === 503 || code === 'idempotency_in_progress'
          ? retryHeaders
          : plainHeaders;
  return more ? { ...headers, ...more } : headers;
};

export type LimitName = Bucket | `company-${Bucket}` | 'portal';

export interface ExceededLimit {
  readonly name: LimitName;
  readonly limit: number;
  readonly window: string;
  readonly resetMs: number;
  readonly nowMs: number;
  readonly currentUsage: number;
}

export const limitPolicy = (name: LimitName, limit: number, window: string): string =>
  `${name}:${limit}/${window}`;

/** Creates no Error, because it answers floods. */
export const renderLimitExceeded = (shape: ErrorShape, exceeded: ExceededLimit): RenderedProblem => {
  const { name, limit, window, resetMs, nowMs, currentUsage } = exceeded;
  const retryAfter = Math.max(1, Math.ceil((resetMs - nowMs) / 1000));
  const { status, message } = errorCodes.rate_limit_exceeded;
  const body =
    shape === 'lookup'
      ? { error_code: 'rate_limit_exceeded', message, retry_after_seconds: retryAfter }
      : {
          error: message,
          retryAfter,
          limit,
          window,
          policy: limitPolicy(name, limit, window),
          resetUtc: new Date(resetMs).toISOString(),
          currentUsage,
        };
  return {
    status,
    headers: { ...plainHeaders, 'Retry-After': String(retryAfter) },
    body: JSON.stringify(body),
  };
};
