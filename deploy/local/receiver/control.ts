import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Verdict } from './signature.ts';

export interface Received {
  readonly atMs: number;
  readonly path: string;
  readonly id: string;
  readonly type: string;
  readonly attempt: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly verdict: Verdict;
}

export interface Receiver {
  /** Without a slash at its end. A subscription's URL is this with any path, and a behaviour as its query. */
  readonly url: string;
  readonly received: readonly Received[];
  readonly arrivals: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Deliveries open at the same time since the last reset; 0 while counting. */
  mostAtATime: number;
  counts(): { readonly deliveries: number; readonly connections: number; readonly open: number };
  trust(secret: string): void;
  /** In place of the URL's query; undefined undoes that. */
  behave(path: string, behaviour: string | undefined): void;
  /** Answers every delivery, if set; one that it does not answer hangs. Not called while counting. */
  answer: ((response: ServerResponse, received: Received) => void) | undefined;
  forget(): void;
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

/**
 * What a person or a test asks of a running receiver:
 *
 *     POST   /_secret      the signing secret, as text or {"signingSecret": …}: signatures are checked from now on
 *     GET    /_received    what came, the latest first (?limit=20); how often each event did, by path
 *     DELETE /_received    forgets it
 *     POST   /_behave      {"path": "/hook", "behaviour": "status=500"}; without a behaviour it is as before
 */
export const answerControl = (
  receiver: Receiver,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): void => {
  const url = new URL(request.url ?? '/', 'http://receiver');
  const text = body.toString().trim();
  const say = (status: number, answer: unknown) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(`${JSON.stringify(answer, undefined, 2)}\n`);
  };
  const refuse = (error: string) => say(400, { error });
  switch (`${request.method} ${url.pathname}`) {
    case 'POST /_secret': {
      const secret = text.startsWith('{') ? fieldOf(text, 'signingSecret') : text;
      if (secret) receiver.trust(secret);
      if (secret) say(200, { checked: true });
      else refuse('the body is the signing secret, or {"signingSecret": …}');
      break;
    }
    case 'GET /_received':
      say(200, shown(receiver, Number(url.searchParams.get('limit') ?? 20)));
      break;
    case 'DELETE /_received':
      receiver.forget();
      say(200, {});
      break;
    case 'POST /_behave': {
      const path = fieldOf(text, 'path') ?? '';
      if (path.startsWith('/')) receiver.behave(path, fieldOf(text, 'behaviour'));
      if (path.startsWith('/')) say(200, {});
      else refuse('path is required, with its slash');
      break;
    }
    default:
      response.writeHead(url.pathname === '/' ? 200 : 404, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end(help(receiver.url));
  }
};

const shown = ({ received, arrivals, counts }: Receiver, limit: number) => ({
  ...counts(),
  arrivals: Object.fromEntries([...arrivals].map(([path, ids]) => [path, summary([...ids.values()])])),
  received: received
    .slice(-Math.max(1, limit))
    .reverse()
    .map(({ atMs, path, id, type, attempt, verdict, headers, body }) => ({
      receivedUtc: new Date(atMs).toISOString(),
      ...{ path, id, type, attempt, verdict, headers, body: body.toString() },
    })),
});

const summary = (times: readonly number[]) => ({
  events: times.length,
  deliveries: times.reduce((sum, one) => sum + one, 0),
  moreThanOnce: times.filter((one) => one > 1).length,
});

const fieldOf = (text: string, name: string): string | undefined => {
  try {
    const value = (JSON.parse(text) as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
};

const help = (url: string): string => `A receiver of webhooks. Subscribe ${url}/hook, or any other path.

POST ${url}/hook?status=500   does what the query says: status, fail, delay, body, retryAfter, redirect,
                              hang, drip, reset, length, headers, bomb, garbage
POST ${url}/_secret           the signing secret, so that signatures are checked
GET  ${url}/_received         what came
POST ${url}/_behave           {"path": "/hook", "behaviour": "status=500"}
`;
