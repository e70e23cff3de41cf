import type { ApiError, RateLimitExceeded } from './interface.generated.ts';

export type Detail = NonNullable<ApiError['details']>[number];

interface Failure {
  readonly status: number;
  readonly requestId: string;
  readonly headers: Headers;
  /** What the server answered: JSON, or the text if it is none. */
  readonly body: unknown;
}

/** Every error of the client but aborts, which are the `reason` of the signal. */
export class CausewayError extends Error {
  override readonly name: string = 'CausewayError';
  /** 0 if there was no answer. */
  readonly status: number;
  /** Name it when you ask for help; empty if there was no answer. */
  readonly requestId: string;
  readonly body: unknown;
  /** The machine-readable cause where there is one, such as `idempotency_in_progress`. */
  readonly reason: string | undefined;

  constructor(message: string, failure?: Failure, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = failure?.status ?? 0;
    this.requestId = failure?.requestId ?? '';
    this.body = failure?.body;
    this.reason = textIn(failure?.body, 'reason') ?? textIn(failure?.body, 'error_code');
  }
}

/** 400: the request is wrong. Do not send it again unchanged. */
export class Invalid extends CausewayError {
  override readonly name = 'Invalid';
  /** Every problem of the request. */
  readonly details: readonly Detail[];

  constructor(message: string, failure: Failure) {
    super(message, failure);
    this.details = (valueIn(failure.body, 'details') as readonly Detail[] | undefined) ?? [];
  }
}

/** 401: the key is missing, wrong or revoked. */
export class Unauthorized extends CausewayError {
  override readonly name = 'Unauthorized';
}

/** 403: the key lacks the scope, or a tool manages the subscription. */
export class Forbidden extends CausewayError {
  override readonly name = 'Forbidden';
}

/** 404: the company has no such record. */
export class NotFound extends CausewayError {
  override readonly name = 'NotFound';
}

/** 409: the state of the record does not allow it. */
export class Conflict extends CausewayError {
  override readonly name = 'Conflict';
}

/** 410: events or changes after the cursor are no longer kept. Begin again without a cursor. */
export class CursorExpired extends CausewayError {
  override readonly name = 'CursorExpired';
}

/** 412: `ifMatch` or `ifNoneMatch` does not hold. */
export class PreconditionFailed extends CausewayError {
  override readonly name = 'PreconditionFailed';
  /** The present version, with `ifMatch`. */
  readonly version: number | undefined;

  constructor(message: string, failure: Failure) {
    super(message, failure);
    this.version = valueIn(failure.body, 'version') as number | undefined;
  }
}

/** 422: another request had the same `idempotencyKey`. */
export class IdempotencyKeyReused extends CausewayError {
  override readonly name = 'IdempotencyKeyReused';
}

/** 429, after the last retry. */
export class RateLimited extends CausewayError {
  override readonly name = 'RateLimited';
  /** In seconds. */
  readonly retryAfter: number;
  readonly limit: number | undefined;
  readonly policy: string | undefined;
  readonly resetUtc: string | undefined;
  readonly currentUsage: number | undefined;

  constructor(message: string, failure: Failure) {
    super(message, failure);
    const { limit, policy, resetUtc, currentUsage } = (failure.body ?? {}) as Partial<RateLimitExceeded>;
    this.retryAfter = retryAfterOf(failure.headers) ?? 1;
    this.limit = limit;
    this.policy = policy;
    this.resetUtc = resetUtc;
    this.currentUsage = currentUsage;
  }
}

/** 503, after the last retry: nothing was done. */
export class Unavailable extends CausewayError {
  override readonly name = 'Unavailable';
}

/** 504, or no answer in time: it may have been done. */
export class TimedOut extends CausewayError {
  override readonly name = 'TimedOut';
}

/** No answer: it may have been done. `cause` says why. */
export class ConnectionLost extends CausewayError {
  override readonly name = 'ConnectionLost';
}

const byStatus = {
  400: Invalid,
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  410: CursorExpired,
  412: PreconditionFailed,
  413: Invalid,
  422: IdempotencyKeyReused,
  429: RateLimited,
  503: Unavailable,
  504: TimedOut,
} as const;

/** Reads the body of an answer that is no success. */
export const failureOf = async (response: Response): Promise<CausewayError> => {
  const { status, headers } = response;
  const text = await response.text();
  const body = jsonIn(text);
  const failure = { status, headers, requestId: headers.get('X-Request-Id') ?? '', body };
  const message = textIn(body, 'error') ?? textIn(body, 'message') ?? `the server answered ${status}`;
  const Of = byStatus[status as keyof typeof byStatus] ?? CausewayError;
  return new Of(message, failure);
};

/** In seconds. */
const retryAfterOf = (headers: Headers): number | undefined => {
  const text = headers.get('Retry-After');
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
};

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const valueIn = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;

const textIn = (body: unknown, name: string): string | undefined => {
  const value = valueIn(body, name);
  return typeof value === 'string' ? value : undefined;
};
