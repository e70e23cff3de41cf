import {
  CausewayError,
  Conflict,
  ConnectionLost,
  failureOf,
  NotFound,
  RateLimited,
  TimedOut,
  Unavailable,
} from './errors.ts';
import type { CallOptions, ClientOptions, Operation } from './options.ts';

export interface Call {
  readonly operation: Operation;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly options: CallOptions & {
    readonly idempotencyKey?: string | undefined;
    readonly ifMatch?: number | string | undefined;
    readonly ifNoneMatch?: number | string | undefined;
  };
}

export type Send = (call: Call) => Promise<unknown>;

/**
 * Sends calls, and again where the contract allows it ("Requests and errors"): 429 when its time is over; 503, which did
 * nothing; 504 and lost connections only if a second request cannot do the work twice.
 */
export const createSender = (client: ClientOptions): Send => {
  const { apiKey, timeoutMs = 30_000, maxRetries = 4 } = client;
  // The portal shows the base URL with the version.
  const root = String(client.baseUrl).replace(/(?:\/api\/v1)?\/*$/, '');
  // Browsers refuse a `fetch` that is called as a method.
  const request = client.fetch ?? ((input: string, init: RequestInit) => fetch(input, init));

  const attempt = async (
    { path, query, body, operation, options }: Call,
    headers: Readonly<Record<string, string>>,
  ) => {
    const waitMs = Number(query.wait ?? 0) * 1000;
    const timeout = AbortSignal.timeout((options.timeoutMs ?? timeoutMs) + waitMs);
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    try {
      const response = await request(`${root}/api/v1${path}${queryText(query)}`, {
        method: operation.method,
        headers,
        signal,
        // Another address must not learn the key.
        redirect: 'manual',
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (response.status === 304) return null;
      if (!response.ok) throw await failureOf(response);
      if (response.status === 204) return undefined;
      return jsonOf(await response.text());
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (error instanceof CausewayError) throw error;
      if (timeout.aborted) throw new TimedOut('no answer in time', undefined, error);
      throw new ConnectionLost('no answer: the connection failed', undefined, error);
    }
  };

  return async (call) => {
    const { operation, body, options } = call;
    const headers = headersOf(call, apiKey);
    const repeatable = isRepeatable(operation, body, options);
    let mayBeDone = false;
    for (let retries = 0; ; retries++) {
      try {
        return await attempt(call, headers);
      } catch (error) {
        if (!(error instanceof CausewayError)) throw error;
        // An earlier attempt, whose answer was lost, has deleted it.
        if (mayBeDone && operation.method === 'DELETE' && error instanceof NotFound) return undefined;
        const isLost = error instanceof TimedOut || error instanceof ConnectionLost;
        mayBeDone ||= isLost;
        const waitMs = waitBefore(error, retries);
        const mayRetry = waitMs !== undefined && (!isLost || repeatable);
        if (!mayRetry || retries >= (options.maxRetries ?? maxRetries)) throw error;
        await pause(waitMs, options.signal);
      }
    }
  };
};

/** A proxy may answer with a page of its own. */
const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CausewayError('the server answered what is not JSON: is the base URL right?', undefined, error);
  }
};

/** @returns undefined if the request must not be sent again unchanged. */
const waitBefore = (error: CausewayError, retries: number): number | undefined => {
  const jitter = 1 + Math.random();
  if (error instanceof RateLimited) return error.retryAfter * 1000 + 250 * jitter;
  if (error instanceof Unavailable) return 1000 * jitter;
  if (error instanceof Conflict)
    return error.reason === 'idempotency_in_progress' ? 1000 * jitter : undefined;
  if (error instanceof TimedOut || error instanceof ConnectionLost)
    return Math.min(8000, 250 * 2 ** retries) * jitter;
  return undefined;
};

/** Whether a second request cannot do the work twice, nor fail because the first has done it. */
const isRepeatable = ({ method }: Operation, body: unknown, { ifMatch }: Call['options']): boolean => {
  if (method !== 'PATCH') return true;
  // A note of a status that is set again is stored again.
  const hasNote = typeof body === 'object' && body !== null && 'status_note' in body;
  return ifMatch === undefined && !hasNote;
};

const headersOf = ({ operation, body, options }: Call, apiKey: string): Record<string, string> => ({
  'X-Api-Key': apiKey,
  ...(body !== undefined && { 'Content-Type': 'application/json' }),
  ...(options.requestId !== undefined && { 'X-Request-Id': options.requestId }),
  ...(operation.method === 'POST' && { 'Idempotency-Key': options.idempotencyKey ?? randomKey() }),
  ...(options.ifMatch !== undefined && { 'If-Match': tagOf(options.ifMatch) }),
  ...(options.ifNoneMatch !== undefined && { 'If-None-Match': tagOf(options.ifNoneMatch) }),
});

/** `crypto.randomUUID` is missing in browsers on pages without TLS. */
const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

const tagOf = (version: number | string): string => (typeof version === 'number' ? `"${version}"` : version);

const queryText = (query: Call['query']): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null) parameters.append(name, String(one));
  const text = parameters.toString();
  return text && `?${text}`;
};

/** @throws the reason of the signal */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
