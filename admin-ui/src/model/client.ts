import table from 'virtual:portal-operations';
import type { AnswerTo, BodyFor, Contract, Detail, MemberOperationId, QueryOf } from '@causeway/proto';
import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../ui/errors.ts';
import { noteAnswer, noteNoAnswer } from '../ui/reachability.ts';
import { showChange } from './query-client.ts';

const basePath = '/portal/api/v1';

interface LooseInput {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

/** Calls an operation. Unless it is a GET, the pages show what it changed. */
export const call = async <Id extends MemberOperationId>(
  id: Id,
  input: Input<Id>,
  signal?: AbortSignal,
): Promise<Answer<Id>> => {
  const isChange = table[id]?.[0] !== 'GET' && !showsItself.has(id);
  try {
    const answer = await ask(id, input, signal);
    if (isChange) showChange();
    return answer;
  } catch (error) {
    // What the page shows is out of date.
    if (isChange && error instanceof ApiError && (error.status === 404 || error.status === 409)) showChange();
    throw error;
  }
};

/** Pages show by themselves what these change. */
const showsItself: ReadonlySet<MemberOperationId> = new Set([
  // The browser then asks for everything as somebody else.
  'signIn',
  'signInWithPasskey',
  'signOut',
  'switchCompany',
  // The page would ask for a link that has been used.
  'acceptInvitation',
  'resetPassword',
  // Its own page is open for another moment, and would ask for it.
  'deletePortalSubscription',
  // The payloads of events follow within seconds.
  'erasePortalPerson',
  // The new session may leave the page, which first shows the recovery codes.
  'addPasskey',
  'confirmTotp',
]);

const ask = async <Id extends MemberOperationId>(
  id: Id,
  input: Input<Id>,
  signal: AbortSignal | undefined,
): Promise<Answer<Id>> => {
  const { params, query, body } = input as LooseInput;
  const [method, path, takesKey] = table[id] ?? unknownOperation(id);
  const url = operationUrl(path, params, query);
  const request = { method, url, body, signal, key: takesKey && keyFor(url, body) };
  const response = await send(request);
  const text = await response.text();
  if (takesKey && response.ok) unanswered.delete(nameOf(url, body));
  if (!response.ok) {
    const error = responseError(response, text);
    // The person proves who they are, and the call is made again.
    if (error.extra.reason === 'proof_required' && (await askForProof())) return ask(id, input, signal);
    throw error;
  }
  return (text === '' ? undefined : JSON.parse(text)) as Answer<Id>;
};

let proofAsked: Promise<boolean> | undefined;
let showProof: (ask: () => Promise<boolean>) => void = () => {};
/** The dialog's code loads after the page's. */
let proofDialog = new Promise<() => Promise<boolean>>((resolve) => {
  showProof = resolve;
});

/** @param ask shows the dialog; whether the person proved who they are. */
export const onProofRequired = (ask: () => Promise<boolean>): void => {
  showProof(ask);
  proofDialog = Promise.resolve(ask);
};

/** Calls at the same time share one dialog. */
const askForProof = (): Promise<boolean> =>
  (proofAsked ??= proofDialog
    .then((ask) => ask())
    .finally(() => {
      proofAsked = undefined;
    }));

/** The `Idempotency-Key` of each request that has not succeeded: a form that is sent again does nothing twice. */
const unanswered = new Map<string, string>();
const nameOf = (url: string, body: unknown): string => `${url} ${JSON.stringify(body)}`;
const keyFor = (url: string, body: unknown): string => {
  const name = nameOf(url, body);
  const key = unanswered.get(name) ?? Array.from(crypto.getRandomValues(new Uint32Array(4))).join('-');
  unanswered.set(name, key);
  return key;
};

interface Request {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
  readonly key: string | undefined;
}

const send = async ({ method, url, body, signal, key }: Request): Promise<Response> => {
  try {
    const response = await fetch(url, {
      method,
      credentials: 'same-origin',
      headers: { ...headersOf(method, body), ...(key && { 'Idempotency-Key': key }) },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    });
    noteAnswer(response.headers.get('Date'));
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    noteNoAnswer();
    throw new ApiError({
      status: 0,
      message: key
        ? 'No answer came, so it may have been done or not. Try again: nothing is done twice.'
        : 'The server could not be reached. Check your connection and try again.',
    });
  }
};

/** `X-Passive`: `passiveHeader` of the contract. */
const headersOf = (method: string, body: unknown): Record<string, string> => ({
  ...(body !== undefined && { 'Content-Type': 'application/json' }),
  ...(!takeActivity() && method === 'GET' && { 'X-Passive': '1' }),
});

export const operationUrl = (
  path: string,
  params: LooseInput['params'] = {},
  query: LooseInput['query'] = {},
): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return `${basePath}${filled}${search.size > 0 ? `?${search}` : ''}`;
};

const responseError = (response: Response, text: string): ApiError => {
  const body = parseObject(text);
  const said = body.error ?? body.message;
  const retryAfter = Number(response.headers.get('Retry-After'));
  const { status } = response;
  return new ApiError({
    status,
    message: typeof said === 'string' ? said : `The server answered ${status}.`,
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

/** Some queries are a POST, and change nothing. The key is the operation's id and its input. */
export const operationQuery = <Id extends MemberOperationId>(id: Id, input: Input<Id>) =>
  queryOptions({ queryKey: [id, input] as const, queryFn: ({ signal }) => ask(id, input, signal) });

/** Pages refresh themselves; without user input, those requests must not keep a session alive (passive). */
let active = true;
/** A person opened the page: its first calls are no passive ones. `page-ahead.js` has made them already, without headers. */
const openingMs = 2000;
let openedMs: number | undefined;

const noteActivity = (): void => {
  active = true;
};

export const watchActivity = (): void => {
  for (const type of ['pointerdown', 'keydown', 'wheel', 'touchstart'])
    addEventListener(type, noteActivity, { capture: true, passive: true });
};

const takeActivity = (): boolean => {
  openedMs ??= performance.now();
  const was = active || performance.now() - openedMs < openingMs;
  active = false;
  return was;
};

export { useMutation } from '../ui/mutation.ts';
export type { MemberOperationId };

type Params<Id extends MemberOperationId> =
  ParamsOf<Contract[Id]['path']> extends never
    ? { readonly params?: undefined }
    : { readonly params: Readonly<Record<ParamsOf<Contract[Id]['path']>, string | number>> };

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;

type Value = string | number | boolean | undefined;
type Query<Id extends MemberOperationId> = Contract[Id]['query'] extends null
  ? { readonly query?: undefined }
  : { readonly query?: { readonly [Name in keyof QueryOf<Contract[Id]>]?: Value } };

type Body<Id extends MemberOperationId> = Contract[Id]['body'] extends null
  ? { readonly body?: undefined }
  : { readonly body: BodyFor<Id> };

export type Input<Id extends MemberOperationId> = Params<Id> & Query<Id> & Body<Id>;

export type Answer<Id extends MemberOperationId> = AnswerTo<Id>;
