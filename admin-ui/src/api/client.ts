import table from 'virtual:portal-operations';
import { ApiError, type Detail } from '../errors.ts';
import { noteAnswer, noteNoAnswer } from '../reachability.ts';
import { takeActivity } from './activity.ts';
import type { Answer, Input, MemberOperationId } from './types.ts';

const basePath = '/portal/api/v1';

interface Loose {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

/** Calls one operation of the portal. Throws `ApiError`. */
export const call = async <Id extends MemberOperationId>(
  id: Id,
  input: Input<Id>,
  signal?: AbortSignal,
): Promise<Answer<Id>> => {
  const { params, query, body } = input as Loose;
  const [method, path] = table[id] ?? unknownOperation(id);
  const response = await send(method, operationUrl(path, params, query), body, signal);
  const text = await response.text();
  if (!response.ok) throw problem(response, text);
  return (text === '' ? undefined : JSON.parse(text)) as Answer<Id>;
};

const send = async (
  method: string,
  url: string,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<Response> => {
  try {
    const response = await fetch(url, {
      method,
      credentials: 'same-origin',
      headers: headersOf(method, body),
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    });
    noteAnswer();
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    noteNoAnswer();
    throw new ApiError({
      status: 0,
      message: 'The server could not be reached. Check your connection and try again.',
    });
  }
};

/** `X-Passive`: `passiveHeader` of the contract. */
const headersOf = (method: string, body: unknown): Record<string, string> => ({
  ...(body !== undefined && { 'Content-Type': 'application/json' }),
  ...(!takeActivity() && method === 'GET' && { 'X-Passive': '1' }),
});

/** The URL of an operation, also for links and event streams. */
export const operationUrl = (
  path: string,
  params: Loose['params'] = {},
  query: Loose['query'] = {},
): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return `${basePath}${filled}${search.size > 0 ? `?${search}` : ''}`;
};

/** Why the server refuses an event stream, which EventSource does not say; null if it accepts. */
export const streamRefusal = async (path: string): Promise<ApiError | null> => {
  const gone = new AbortController();
  const response = await send('GET', operationUrl(path), undefined, gone.signal);
  try {
    return response.ok ? null : problem(response, await response.text());
  } finally {
    gone.abort();
  }
};

const problem = (response: Response, text: string): ApiError => {
  const body = parseObject(text);
  const said = body.error ?? body.message;
  const retryAfter = Number(response.headers.get('Retry-After'));
  return new ApiError({
    status: response.status,
    message: typeof said === 'string' ? said : `The server answered ${response.status}.`,
    details: Array.isArray(body.details) ? (body.details as Detail[]) : [],
    extra: body,
    requestId: response.headers.get('X-Request-Id'),
    retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : null,
  });
};

const parseObject = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

const unknownOperation = (id: string): never => {
  throw new Error(`no operation ${id}`);
};
