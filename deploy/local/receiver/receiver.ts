import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { act, type Behaviour } from './behaviour.ts';
import { type Verdict, verdictOn } from './signature.ts';

export interface ReceiverOptions {
  readonly port?: number;
  readonly host?: string;
  readonly tls?: Pick<ServerOptions, 'key' | 'cert'>;
  /** Keeps only the events' ids, for large numbers of deliveries. */
  readonly counting?: boolean;
  readonly counted?: (
    path: string,
    headers: readonly string[],
    body: Buffer,
    response: ServerResponse,
  ) => void;
  readonly keep?: number;
  readonly say?: (line: string) => void;
}

/** Answers deliveries as a query (`Behaviour`) or a function says. Paths below `/_` control it. */
export const startReceiver = async (options: ReceiverOptions = {}): Promise<Receiver> => {
  const { port = 0, host = '127.0.0.1', tls, counting = false, counted, keep = Infinity, say } = options;
  const received: Received[] = [];
  const arrivals = new Map<string, Map<string, number>>();
  const requestsTo = new Map<string, number>();
  const behaviours = new Map<string, string>();
  const secrets: string[] = [];
  let deliveries = 0;
  let connections = 0;
  let open = 0;
  let atATime = 0;

  const count = (path: string, id: string): { nth: number; nthOfEvent: number } => {
    deliveries += 1;
    const nth = (requestsTo.get(path) ?? 0) + 1;
    requestsTo.set(path, nth);
    const ids = arrivals.get(path) ?? new Map<string, number>();
    arrivals.set(path, ids);
    const nthOfEvent = (ids.get(id) ?? 0) + 1;
    ids.set(id, nthOfEvent);
    return { nth, nthOfEvent };
  };

  const keepIt = (request: IncomingMessage, path: string, body: Buffer): Received => {
    const headers = request.headers as Readonly<Record<string, string>>;
    const atMs = Date.now();
    const delivery: Received = {
      atMs,
      path,
      id: headers['x-webhook-id'] ?? '',
      type: headers['x-webhook-event'] ?? '',
      attempt: Number(headers['x-webhook-attempt'] ?? 0),
      headers,
      body,
      verdict: verdictOn(
        secrets,
        headers['x-webhook-timestamp'] ?? '',
        headers['x-webhook-signature'] ?? '',
        body,
        atMs,
      ),
    };
    if (received.push(delivery) > keep) received.shift();
    return delivery;
  };

  const noteOpen = (response: ServerResponse): void => {
    atATime += 1;
    receiver.mostAtATime = Math.max(receiver.mostAtATime, atATime);
    response.once('close', () => {
      atATime -= 1;
    });
  };

  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const body = counting && !counted ? await drained(request) : await bytesOf(request);
    if (path.startsWith('/_') || request.method !== 'POST')
      return answerControl(receiver, request, response, body);
    if (!counting) noteOpen(response);
    const turn = { request, response, body, ...count(path, String(request.headers['x-webhook-id'] ?? '')) };
    counted?.(path, request.rawHeaders, body, response);
    const delivery = counting ? undefined : keepIt(request, path, body);
    if (delivery && receiver.answer) return receiver.answer(response, delivery);
    const said = behaviours.get(path) ?? query;
    const did =
      said === '' ? quick(response) : await act(new URLSearchParams(said) satisfies Behaviour, turn);
    if (delivery && say) say(lineOf(delivery, did));
  };

  const listener: RequestListener = (request, response) => {
    // A sender that disconnects in the middle is no error here.
    take(request, response).catch(() => request.socket.destroy());
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => {
    connections += 1;
    open += 1;
    socket.once('close', () => {
      open -= 1;
    });
  });
  await once(server.listen(port, host), 'listening');
  const { port: boundPort } = server.address() as AddressInfo;
  const down = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };

  const receiver: Receiver = {
    url: `${tls ? 'https' : 'http'}://${host}:${boundPort}`,
    received,
    arrivals,
    mostAtATime: 0,
    answer: undefined,
    counts: () => ({ deliveries, connections, open }),
    trust: (secret) => void secrets.push(secret),
    behave: (path, behaviour) => {
      if (behaviour === undefined) behaviours.delete(path);
      else behaviours.set(path, behaviour);
    },
    forget: () => {
      received.length = 0;
      arrivals.clear();
      requestsTo.clear();
      deliveries = 0;
    },
    down,
    up: async () => void (await once(server.listen(boundPort, host), 'listening')),
    close: down,
  };
  return receiver;
};

const quick = (response: ServerResponse): string => {
  response.writeHead(200, ['Content-Type', 'text/plain', 'Content-Length', '9']).end('thank you');
  return '200';
};

const lineOf = ({ atMs, path, type, id, attempt, verdict }: Received, did: string): string =>
  [
    new Date(atMs).toISOString().slice(11, 23),
    path,
    type || 'no event type',
    `event ${id || '?'}`,
    `attempt ${attempt || '?'}`,
    verdict === 'unchecked' ? 'signature unchecked' : `signature ${verdict}`,
    `→ ${did}`,
  ].join('  ');

const bytesOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const drained = (request: IncomingMessage): Promise<Buffer> =>
  request.method === 'POST' && request.url?.startsWith('/_')
    ? bytesOf(request)
    : new Promise((resolve) => request.resume().once('end', () => resolve(nothing)));
const nothing = Buffer.alloc(0);

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
const answerControl = (
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
