import {
  allErrorCodes,
  type ErrorCode,
  methodNotAllowed,
  missingScope,
  networkNotAllowed,
  nothingToUpdate,
  Problem,
  type ProblemFacts,
  problem,
} from '../errors.ts';
import { type ErrorShape, type KeyOperation, takesIdempotencyKey } from '../operation.ts';
import { renderLimitExceeded, renderProblem } from '../render-problem.ts';
import type { Json } from './components.ts';

export const errorAnswers = (operation: KeyOperation): Json => {
  const { errorShape, errors, scope, bucket } = operation;
  const answers: Record<string, Json> = {};
  for (const one of shared)
    answers[statusOf(one.codes)] = bucket
      ? { $ref: `#/components/responses/${responseName(errorShape, one.name)}` }
      : sharedAnswer(errorShape, one, onEvery);
  answers[400] = answer(
    errorShape,
    400,
    badRequest(operation),
    {
      ...(errors[400] && { operation: errors[400].example }),
      unknown_parameter: bodyOf(errorShape, unknownParameter),
    },
    headersFor(operation),
  );
  answers[403] = answer(
    errorShape,
    403,
    forbidden(operation),
    {
      ...(scope && { forbidden: bodyOf(errorShape, missingScope(scope)) }),
      network_not_allowed: bodyOf(errorShape, networkNotAllowed('198.51.100.7')),
      ...(errors[403] && { operation: errors[403].example }),
    },
    errors[403] ? ifCounted : onEvery,
  );
  for (const [status, errorsOfStatus] of Object.entries(errors))
    if (status !== '400' && status !== '403')
      answers[status] = answer(
        errorShape,
        Number(status),
        errorsOfStatus.description,
        { operation: errorsOfStatus.example },
        headersFor(operation),
      );
  if (operation.versioned && operation.method !== 'GET') answers[412] = ofCondition(operation);
  return takesIdempotencyKey(operation) ? { ...answers, ...ofIdempotencyKey(operation) } : answers;
};

const ofCondition = ({ errorShape, method }: KeyOperation): Json => {
  const isCreate = method === 'POST';
  const example = (code: ErrorCode, extra: Json) => bodyOf(errorShape, new Problem({ code, extra }));
  return answer(
    errorShape,
    412,
    isCreate
      ? 'With `If-None-Match: *`: a record with this external_id exists, and the answer has its ID. With `If-Match`: no record with it exists (the reason is `not_found`), or it has another version. Nothing was changed.'
      : 'The record has another version than `If-Match` names. Nothing was changed; `version` is the current one.',
    {
      version_mismatch: example('version_mismatch', { version: 3 }),
      ...(isCreate && {
        not_found: bodyOf(errorShape, nothingToUpdate()),
        already_exists: example('already_exists', { client_id: 1042 }),
      }),
    },
    onCounted,
  );
};

const ofIdempotencyKey = ({ errorShape, errors }: KeyOperation): Json => ({
  409: answer(
    errorShape,
    409,
    joined(
      ' Or: ',
      errors[409]?.description,
      'A request with the same `Idempotency-Key` is still being carried out: retry in a moment.',
    ),
    {
      idempotency_in_progress: exampleOf(errorShape, 'idempotency_in_progress'),
      ...(errors[409] && { operation: errors[409].example }),
    },
    onCounted,
  ),
  422: answer(
    errorShape,
    422,
    'The `Idempotency-Key` was used for another operation, path or body. Nothing was done.',
    { idempotency_key_reused: exampleOf(errorShape, 'idempotency_key_reused') },
    onCounted,
  ),
});

export const sharedAnswers = (): Json => {
  const shapes: readonly ErrorShape[] = ['general', 'lookup'];
  return Object.fromEntries(
    shapes.flatMap((shape) => shared.map((one) => [responseName(shape, one.name), sharedAnswer(shape, one)])),
  );
};

const sharedAnswer = (shape: ErrorShape, { description, codes }: SharedAnswer, common?: Json): Json => {
  const examples = Object.fromEntries(codes.map((code) => [code, exampleOf(shape, code)]));
  return answer(shape, statusOf(codes), description, examples, common);
};

const statusOf = ([code]: readonly ErrorCode[]): number => allErrorCodes[code!].status;

const shared: readonly SharedAnswer[] = [
  {
    name: 'Unauthorized',
    codes: ['unauthorized'],
    description:
      'The key is missing, malformed, unknown or revoked. All of these get the same answer, and none is counted.',
  },
  { name: 'NotFound', codes: ['not_found'], description: 'The path does not exist.' },
  {
    name: 'MethodNotAllowed',
    codes: ['method_not_allowed'],
    description: 'The path does not have this method.',
  },
  {
    name: 'PayloadTooLarge',
    codes: ['payload_too_large'],
    description: 'The request body exceeds 1 MiB. The request was counted.',
  },
  {
    name: 'UnsupportedEncoding',
    codes: ['unsupported_encoding'],
    description: 'The request body has a `Content-Encoding`. Send it as it is. The request was counted.',
  },
  {
    name: 'RateLimitExceeded',
    codes: ['rate_limit_exceeded'],
    description:
      'The limit of the window is used up: the key’s (`policy` reads `read:60/1m`), or the ceiling over all keys of its company (`company-read:1200/1m`). The window is the UTC minute; retry when it has ended.',
  },
  {
    name: 'InternalError',
    codes: ['internal_error'],
    description: 'An unexpected failure. `requestId` identifies it in the logs.',
  },
  {
    name: 'Unavailable',
    codes: ['lock_timeout', 'keys_unavailable', 'service_unavailable'],
    description:
      'The request could not be counted (`lock_timeout`), keys cannot be checked (`keys_unavailable`), or the service is not available (`service_unavailable`; only then was the request counted, and the answer has the rate-limit headers). This is not a rate-limit violation: retry after 1-2 seconds.',
  },
  {
    name: 'Timeout',
    codes: ['timeout'],
    description: 'The service did not answer in time. The request may have been carried out.',
  },
];

export const sharedCodes: readonly ErrorCode[] = [
  'invalid_request',
  'forbidden',
  'network_not_allowed',
  ...shared.flatMap(({ codes }) => codes),
];

const exceeded = {
  name: 'read',
  limit: 60,
  window: '1m',
  resetMs: Date.parse('2026-01-15T09:31:00.000Z'),
  nowMs: Date.parse('2026-01-15T09:30:41.500Z'),
  currentUsage: 61,
} as const;

const unknownParameter: ProblemFacts = {
  code: 'invalid_request',
  publicMessage: 'unknown query parameter: foo',
  details: [{ field: 'foo', code: 'unknown_field', message: 'unknown query parameter: foo' }],
};

/** Renders examples with the code that renders real answers, so that they cannot differ. */
const exampleOf = (shape: ErrorShape, code: ErrorCode): unknown => {
  if (code === 'rate_limit_exceeded') return JSON.parse(renderLimitExceeded(shape, exceeded).body);
  return bodyOf(shape, code === 'method_not_allowed' ? methodNotAllowed('GET, HEAD') : problem(code));
};

const bodyOf = (shape: ErrorShape, facts: ProblemFacts): unknown =>
  JSON.parse(renderProblem(shape, facts, { requestId: '7f1c2a9e5b6d4c38' }).body);

const badRequest = (operation: KeyOperation): string => {
  const { query, body, errors } = operation;
  return joined(
    ' ',
    errors[400]?.description,
    query
      ? 'A query parameter is unknown, repeated or not valid.'
      : 'A query parameter was sent; the operation has none.',
    body && 'The body is not a JSON object in UTF-8, or a field of it is missing, unknown or not valid.',
    takesIdempotencyKey(operation) && 'The `Idempotency-Key` is malformed.',
    'Everything that is wrong is listed in `details`.',
  );
};

const forbidden = ({ scope, errors }: KeyOperation): string =>
  joined(
    ' ',
    scope && `The key lacks the scope \`${scope}\`.`,
    'The key may not be used from this address (`network_not_allowed`).',
    'Then the request was not counted and the answer has no rate-limit headers.',
    errors[403]?.description,
  );

const joined = (by: string, ...texts: readonly (string | false | null | undefined)[]): string =>
  texts.filter(Boolean).join(by);

/** 403 depends on the operation; 404 and 405 name no operation. */
const afterCount = new Set([400, 413, 415, 429, 500, 504]);

const answer = (
  shape: ErrorShape,
  status: number,
  description: string,
  examples: Json,
  common: Json = afterCount.has(status) ? onCounted : status === 503 ? ifCounted : onEvery,
): Json => ({
  description,
  headers: { ...common, ...alsoOn[status] },
  content: {
    'application/json': {
      schema: { $ref: `#/components/schemas/${schemaName(shape, status)}` },
      examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
    },
  },
});

const schemaName = (shape: ErrorShape, status: number): string =>
  status === 429 ? responseName(shape, 'RateLimitExceeded') : shape === 'lookup' ? 'LookupError' : 'ApiError';

const responseName = (shape: ErrorShape, name: string): string =>
  shape === 'lookup' ? `Lookup${name}` : name;

interface SharedAnswer {
  readonly name: string;
  readonly description: string;
  readonly codes: readonly ErrorCode[];
}

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
  'X-RateLimit-Until': {
    ...header('With a temporary limit of the company: when it ends.', text, '2026-01-15T18:00:00.000Z'),
    required: false,
  },
  'Retry-After': header('Seconds to wait before the next attempt.', integer, 1),
  'WWW-Authenticate': header('The way to authenticate.', text, 'ApiKey header="X-Api-Key"'),
  'Idempotent-Replayed': {
    ...header('The answer to an earlier request with the same `Idempotency-Key`.', text, 'true'),
    required: false,
  },
  ETag: {
    ...header(
      'The version of the record, for `If-Match` and `If-None-Match`. Not in the repeated answer of an `Idempotency-Key`.',
      text,
      '"2"',
    ),
    required: false,
  },
  Allow: header('The methods that the path has.', text, 'GET, HEAD'),
};

const refer = (...names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const onEvery = refer('X-Request-Id');

const rateLimit = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Window',
  'X-RateLimit-Policy',
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Until',
] as const;

/** Answers to counted requests, whatever their status (contract, "Rate limits"). */
const onCounted = refer('X-Request-Id', ...rateLimit);

const headersFor = ({ bucket }: Pick<KeyOperation, 'bucket'>): Json => (bucket ? onCounted : onEvery);

export const successHeaders = (operation: KeyOperation): Json => ({
  ...headersFor(operation),
  ...(takesIdempotencyKey(operation) && refer('Idempotent-Replayed')),
  ...(operation.versioned && operation.method !== 'DELETE' && refer('ETag')),
});

const ifCounted: Json = {
  ...onEvery,
  ...Object.fromEntries(rateLimit.map((name) => [name, { ...(headers[name] as Json), required: false }])),
};
const alsoOn: Readonly<Record<number, Json>> = {
  401: refer('WWW-Authenticate'),
  405: refer('Allow'),
  409: { 'Retry-After': { ...(headers['Retry-After'] as Json), required: false } },
  429: refer('Retry-After'),
  503: refer('Retry-After'),
};
