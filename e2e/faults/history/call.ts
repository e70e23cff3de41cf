import type { Json, Reply } from '../../api/support/open.ts';

/** What one client sent and was answered. Times as of `performance.now()`. */
export interface Call {
  readonly company: number;
  /** The client, such as `editor`. The auditor reads everything when all others have stopped. */
  readonly by: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  readonly sentMs: number;
  readonly endedMs: number;
  /** An Error if the connection ended without an answer: the request may have been carried out. */
  readonly reply: Reply | Error;
}

/** A POST at the receiver. */
export interface Arrival {
  readonly path: string;
  readonly id: string;
  readonly attempt: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly atMs: number;
  /** When the 200 was handed to the network; undefined if the connection ended before. */
  answeredMs?: number;
}

export interface Subscribed {
  readonly id: number;
  readonly company: number;
  readonly path: string;
  readonly types: readonly string[];
  readonly secret: string;
  /** Attempts that may begin in any second. */
  readonly pace?: number;
}

/** An attempt as Causeway recorded it. */
export interface Attempt {
  readonly subscription: number;
  readonly id: string;
  readonly attempt: number;
  readonly startedMs: number;
  readonly elapsedMs: number;
  readonly error: string | null;
}

/** Changes of one member's role, each of which is told once. */
export interface Told {
  readonly changes: readonly Call[];
  /** As the portal lists them. */
  readonly notices: readonly { readonly id: number; readonly kind: string }[];
}

export interface History {
  /** In the order in which they ended. */
  readonly calls: readonly Call[];
  readonly arrivals: readonly Arrival[];
  readonly subscribed: readonly Subscribed[];
  readonly attempts: readonly Attempt[];
  readonly told?: Told;
  /** How many deliveries may have come twice for a documented cause. */
  readonly repeatsAllowed: number;
  /** Requests may end without an answer, since a gateway itself fails. */
  readonly edge: boolean;
  /** What the receiver answered may not have arrived. */
  readonly receiverCut: boolean;
  /** How an answer differs from the OpenAPI document. */
  readonly problemOf?: (call: Call) => string | undefined;
}

/** Of a reading, the record is shown in place of the whole answer. */
type Line = Call | Arrival | string | { readonly call: Call; readonly record?: Json };

/** A sentence of the contract, and the lines of the history that break it. */
export interface Violation {
  readonly sentence: string;
  readonly lines: readonly Line[];
}

export const broken = (sentence: string, ...lines: readonly Line[]): Violation => ({ sentence, lines });

export const statusOf = ({ reply }: Call): number => (reply instanceof Error ? 0 : reply.status);
export const jsonOf = ({ reply }: Call): Json => (reply instanceof Error ? undefined : reply.json);
export const isDone = (call: Call): boolean => statusOf(call) >= 200 && statusOf(call) < 300;
/** Nothing was done: a refusal, or a 503. All else that is not done may be. */
export const isRefused = (call: Call): boolean =>
  (statusOf(call) >= 400 && statusOf(call) < 500) || statusOf(call) === 503;
/** Whether a call had ended when the other one began. */
export const isBefore = (a: Call, b: Call): boolean => a.endedMs < b.sentMs;
export const headerOf = ({ reply }: Call, name: string): string | undefined =>
  reply instanceof Error || reply.headers[name] === undefined ? undefined : String(reply.headers[name]);

const lineMost = 400;

export const lineOf = (one: Line, startMs: number): string => {
  if (typeof one === 'string') return one;
  if ('call' in one) {
    const { reply } = one.call;
    const isShown = one.record !== undefined && !(reply instanceof Error);
    return lineOf(
      isShown ? { ...one.call, reply: { ...reply, text: JSON.stringify(one.record) } } : one.call,
      startMs,
    );
  }
  const at = (ms: number): string => ((ms - startMs) / 1000).toFixed(3);
  if (!('reply' in one))
    return `${at(one.atMs)} s  receiver ${one.path}: event ${one.id}, attempt ${one.attempt} → ${one.answeredMs ? `200 at ${at(one.answeredMs)} s` : 'no answer'}  ${one.body}`.slice(
      0,
      lineMost,
    );
  const headers = Object.entries(one.headers).map(([name, value]) => ` ${name}: ${value}`);
  const body = one.body === undefined ? '' : ` ${JSON.stringify(one.body).slice(0, lineMost / 2)}`;
  const reply = one.reply instanceof Error ? String(one.reply) : `${one.reply.status} ${one.reply.text}`;
  const etag = headerOf(one, 'etag') === undefined ? '' : ` (ETag ${headerOf(one, 'etag')})`;
  return `${at(one.sentMs)}–${at(one.endedMs)} s  company ${one.company}, ${one.by}: ${one.method} ${one.path}${headers}${body} → ${reply.slice(0, lineMost / 2)}${etag}`;
};
