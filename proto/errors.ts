/** The closed list of error codes (contract, "Requests and errors"). */
export const errorCodes = {
  invalid_request: { status: 400, message: 'the request is not valid' },
  quota_exceeded: { status: 400, message: 'a quota of the company is used up' },
  unauthorized: { status: 401, message: 'missing or invalid API key' },
  forbidden: { status: 403, message: 'the API key does not have the required scope' },
  network_not_allowed: { status: 403, message: 'the API key may not be used from this address' },
  tool_managed: { status: 403, message: 'the subscription is managed by a tool and cannot be edited here' },
  not_found: { status: 404, message: 'not found' },
  method_not_allowed: { status: 405, message: 'method not allowed' },
  state_conflict: { status: 409, message: 'the state of the record does not allow this' },
  idempotency_in_progress: {
    status: 409,
    message: 'a request with this Idempotency-Key is still being carried out; retry in a moment',
  },
  duplicate_item: { status: 409, message: 'an earlier item of the batch names the same record' },
  cursor_expired: {
    status: 410,
    message: 'events after this cursor are no longer in the log; begin again without a cursor',
  },
  version_mismatch: { status: 412, message: 'the record has another version; read it again' },
  already_exists: { status: 412, message: 'a record with this external_id exists' },
  nothing_to_update: { status: 412, message: 'no record with this external_id exists' },
  payload_too_large: { status: 413, message: 'the request body exceeds 1048576 bytes' },
  unsupported_encoding: { status: 415, message: 'the request body is compressed; send it as it is' },
  idempotency_key_reused: {
    status: 422,
    message: 'this Idempotency-Key was used for a different request; use a new key for each request',
  },
  rate_limit_exceeded: { status: 429, message: 'rate limit exceeded' },
  internal_error: { status: 500, message: 'internal error' },
  key_creation_failed: { status: 500, message: 'the API key could not be created' },
  sample_payload_failed: { status: 500, message: 'the sample payload could not be generated' },
  secret_encryption_failed: { status: 500, message: 'the signing secret could not be encrypted' },
  not_implemented: { status: 501, message: 'this operation is not available yet' },
  lock_timeout: { status: 503, message: 'the rate limit could not be checked in time' },
  keys_unavailable: { status: 503, message: 'API keys cannot be checked at the moment' },
  service_unavailable: { status: 503, message: 'the service is not available at the moment' },
  not_started: { status: 503, message: 'the item was not begun, and nothing was done' },
  timeout: { status: 504, message: 'the service did not answer in time' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly message: string }>>;

/** Errors of the portal only. They carry their code as `reason`. */
export const portalErrorCodes = {
  signed_out: { status: 401, message: 'sign in to continue' },
  wrong_credentials: { status: 401, message: 'the email address or the password is wrong' },
  wrong_code: { status: 401, message: 'the code is wrong' },
  company_closed: { status: 403, message: 'the company is closed; ask who runs this installation' },
  cross_site: { status: 403, message: 'the request did not come from the portal itself' },
  wrong_passkey: {
    status: 401,
    message: 'this passkey opens nothing here; use another one, or sign in with your password',
  },
  proof_required: { status: 403, message: 'confirm that it is you, then try again' },
  second_factor_required: { status: 403, message: 'your company requires a second factor; set one up first' },
  role_required: { status: 403, message: 'your role does not allow this' },
  conflict: { status: 409, message: 'the current state does not allow this' },
  reset_over: { status: 410, message: 'the link was used or replaced, or has expired' },
  invitation_over: { status: 410, message: 'the invitation was used or revoked, or has expired' },
  too_many_attempts: { status: 429, message: 'too many attempts; wait before the next one' },
  too_many_requests: { status: 429, message: 'too many requests at once' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly message: string }>>;

export const allErrorCodes = { ...errorCodes, ...portalErrorCodes } as const;

export type ErrorCode = keyof typeof allErrorCodes;

/** The closed list of the codes of details, with their meanings (contract, "Requests and errors"). */
export const detailCodes = {
  required: 'A value is missing, null or blank.',
  unknown_field: 'No field or parameter has this name.',
  read_only: 'The field cannot be changed here, and its value is not the stored one.',
  too_long: 'More characters, bytes, items, keys or levels than allowed.',
  too_short: 'Fewer characters or items than needed.',
  invalid_characters:
    'Characters that are not allowed, or a text without the form it must have, such as a URL, a cursor or a time.',
  email_invalid: 'Not an email address.',
  phone_invalid: 'Not a phone number.',
  not_found: 'The company has no such record or status.',
  wrong_kind: 'A value of another JSON type, or a record or status of another kind.',
  inactive: 'The record exists and is inactive.',
  in_use: 'Another record has the value.',
  out_of_range: 'A number, time, choice or other value that is not among those allowed.',
  not_json: 'Not JSON in UTF-8.',
  must_agree: 'It contradicts the path, another field or what is stored, or was given more than once.',
  empty_update: 'The update has no field to change.',
} as const satisfies Readonly<Record<string, string>>;

export type DetailCode = keyof typeof detailCodes;

export interface Detail {
  readonly field: string;
  readonly code: DetailCode;
  readonly message: string;
  /** With an `external_id` that is in use. */
  readonly conflicting_client_id?: number;
  readonly conflicting_employee_id?: number;
}

export interface ProblemFacts {
  readonly code: ErrorCode;
  readonly publicMessage: string;
  readonly details?: readonly Detail[];
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export class Problem extends Error implements ProblemFacts {
  override readonly name = 'Problem';
  readonly code: ErrorCode;
  readonly publicMessage: string;
  readonly details?: readonly Detail[];
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;

  constructor(facts: Omit<ProblemFacts, 'publicMessage'> & { publicMessage?: string; cause?: unknown }) {
    const publicMessage = facts.publicMessage ?? allErrorCodes[facts.code].message;
    super(`${facts.code}: ${publicMessage}`, 'cause' in facts ? { cause: facts.cause } : undefined);
    this.code = facts.code;
    this.publicMessage = publicMessage;
    if (facts.details) this.details = facts.details;
    if (facts.extra) this.extra = facts.extra;
    if (facts.headers) this.headers = facts.headers;
  }

  get status(): number {
    return allErrorCodes[this.code].status;
  }
}

export const problem = (code: ErrorCode, cause?: unknown): Problem =>
  new Problem(cause === undefined ? { code } : { code, cause });

/** 400. The first detail becomes `error`. */
export const invalid = (details: readonly Detail[], extra?: Readonly<Record<string, unknown>>): Problem =>
  new Problem({
    code: 'invalid_request',
    publicMessage: details[0]?.message ?? errorCodes.invalid_request.message,
    ...(details.length > 0 && { details }),
    ...(extra && { extra }),
  });

export const invalidField = (field: string, code: DetailCode, message: string): Problem =>
  invalid([{ field, code, message }]);

type QuotaName = 'subscriptions' | 'keys';

/** 400 `{error, quota, limit}`: the company has reached a quota. */
export const quotaExceeded = (quota: QuotaName, limit: number, publicMessage: string): Problem =>
  new Problem({ code: 'quota_exceeded', publicMessage, extra: { quota, limit } });

/** 412: a create that may only update has found no record. */
export const nothingToUpdate = (): Problem =>
  new Problem({ code: 'nothing_to_update', extra: { reason: 'not_found' } });

/** 404. Without `what`, the route does not exist. @param instead what the id does name in the company. */
export const notFound = (what?: string, instead?: string): Problem =>
  new Problem({
    code: 'not_found',
    ...(what && { publicMessage: `${what} not found${instead ? `: ${instead}` : ''}` }),
  });

export const missingScope = (scope: string): Problem =>
  new Problem({ code: 'forbidden', publicMessage: `the API key does not have the scope ${scope}` });

export const networkNotAllowed = (address: string): Problem =>
  new Problem({
    code: 'network_not_allowed',
    publicMessage: `the API key may not be used from the address ${address}`,
  });

export const methodNotAllowed = (allow: string): Problem =>
  new Problem({ code: 'method_not_allowed', headers: { Allow: allow } });

/** 403 for an edit of a subscription that a tool owns (contract, "Requests and errors"). */
export const toolManaged = (managedBy: string): Problem =>
  new Problem({
    code: 'tool_managed',
    publicMessage: `the subscription is managed by ${managedBy} and cannot be edited here`,
    extra: { managed_by: managedBy, is_tool_managed: true },
  });

export const stateConflict = (publicMessage: string, extra?: Readonly<Record<string, unknown>>): Problem =>
  new Problem({ code: 'state_conflict', publicMessage, ...(extra && { extra }) });

export const internalError = (cause: unknown): Problem => new Problem({ code: 'internal_error', cause });

export const toProblem = (thrown: unknown): Problem =>
  thrown instanceof Problem ? thrown : internalError(thrown);

export const roleRequired = (role: string): Problem =>
  new Problem({ code: 'role_required', publicMessage: `this needs the role ${role}` });

export const tooManyAttempts = (retryAfterSeconds: number): Problem =>
  tooManyUntil(
    'too_many_attempts',
    `too many attempts; try again in ${retryAfterSeconds} s`,
    retryAfterSeconds,
  );

export const tooManyRequests = (limit: number, retryAfterSeconds: number): Problem =>
  tooManyUntil(
    'too_many_requests',
    `you made more than ${limit} requests this minute; wait ${retryAfterSeconds} s, then try again`,
    retryAfterSeconds,
  );

const tooManyUntil = (code: ErrorCode, publicMessage: string, retryAfterSeconds: number): Problem =>
  new Problem({
    code,
    publicMessage,
    extra: { retryAfter: retryAfterSeconds },
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });

/** 429 for tests and challenges of a company beyond its share of the places (contract, "Test deliveries"). */
export const tooManyTests = (underWay: number): Problem =>
  new Problem({
    ...tooManyAtOnce('tests', underWay, 'company'),
    publicMessage:
      'too many test deliveries and challenges of the company are under way; try again when their receivers have answered',
  });

/** 429 for requests beyond `limit` at once, in the shape of all others (contract, "Rate limits"). */
export const tooManyAtOnce = (
  name: string,
  limit: number,
  window: 'key' | 'company',
  nowMs = Date.now(),
): Problem =>
  new Problem({
    code: 'rate_limit_exceeded',
    extra: {
      retryAfter: 1,
      limit,
      window,
      policy: `${name}:${limit}/${window}`,
      resetUtc: new Date(nowMs + 1000).toISOString(),
      currentUsage: limit + 1,
    },
    headers: { 'Retry-After': '1' },
  });

export const payloadTooLarge = (maxBytes: number): Problem =>
  new Problem({
    code: 'payload_too_large',
    publicMessage: `the request body exceeds ${maxBytes} bytes`,
  });

export const conflict = (publicMessage: string): Problem => new Problem({ code: 'conflict', publicMessage });
