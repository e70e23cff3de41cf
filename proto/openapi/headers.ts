import type { Json } from './json-schema.ts';

/** Response headers, under `components.headers` (contract, "Rate limits"). */

/** `required`: always present on answers that list it. */
const header = (description: string, schema: Json, example: unknown): Json => ({
  description,
  required: true,
  schema,
  example,
});
const text = { type: 'string' };
const integer = { type: 'integer' };

export const headers: Json = {
  'X-Request-Id': header(
    'Identifies this request in logs: the caller’s own ID if it sent a valid one, otherwise a new one.',
    text,
    '7f1c2a9e5b6d4c38',
  ),
  'X-RateLimit-Limit': header('Requests allowed in the window.', integer, 60),
  'X-RateLimit-Remaining': header('Requests left in the window.', integer, 59),
  'X-RateLimit-Reset': header('Unix time in seconds at which the window ends.', integer, 1768469460),
  'X-RateLimit-Window': header('Length of the window.', text, '1m'),
  'X-RateLimit-Policy': header(
    '`<bucket>:<limit>/<window>`; on a 429 that the ceiling of the company caused, `company-<bucket>:<limit>/<window>`',
    text,
    'read:60/1m',
  ),
  'RateLimit-Policy': header('The same policy, in the format of the IETF draft.', text, '"read";q=60;w=60'),
  RateLimit: header('Requests left, and seconds until the window ends.', text, '"read";r=59;t=34'),
  'Retry-After': header('Seconds to wait before the next attempt.', integer, 1),
  'WWW-Authenticate': header('The way to authenticate.', text, 'ApiKey header="X-Api-Key"'),
  'Idempotent-Replayed': {
    ...header('The answer to an earlier request with the same `Idempotency-Key`.', text, 'true'),
    required: false,
  },
  Allow: header('The methods that the path has.', text, 'GET, HEAD'),
};

const refer = (...names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** On every answer. */
export const onEvery = refer('X-Request-Id');

const rateLimit = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Window',
  'X-RateLimit-Policy',
  'RateLimit-Policy',
  'RateLimit',
] as const;

/** On every answer to a request that was counted, whatever its status (contract, "Rate limits"). */
export const onCounted = refer('X-Request-Id', ...rateLimit);

/** On the successes of operations that take an `Idempotency-Key`. */
export const onReplayed: Json = { ...onCounted, ...refer('Idempotent-Replayed') };

/** For statuses that uncounted requests can get too. */
export const ifCounted: Json = {
  ...onEvery,
  ...Object.fromEntries(rateLimit.map((name) => [name, { ...(headers[name] as Json), required: false }])),
};
export const alsoOn: Readonly<Record<number, Json>> = {
  401: refer('WWW-Authenticate'),
  405: refer('Allow'),
  409: { 'Retry-After': { ...(headers['Retry-After'] as Json), required: false } },
  429: refer('Retry-After'),
  503: refer('Retry-After'),
};
