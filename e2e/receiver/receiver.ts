import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { HeaderPair } from '@causeway/proto';
import { act, type Behaviour } from './behaviour.ts';
import { answerControl } from './control.ts';
import { type Verdict, verdictOn } from './signature.ts';

export interface ReceiverOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly host?: string;
  /** Key and certificate, to be reached by https. */
  readonly tls?: Pick<ServerOptions, 'key' | 'cert'>;
  /** Keeps the events' ids alone, for large numbers of deliveries. */
  readonly counting?: boolean;
  /** While counting: told of every delivery. */
  readonly counted?: (path: string, headers: readonly string[], body: Buffer) => void;
  /** How many deliveries are kept, the latest. */
  readonly keep?: number;
  /** Told of every delivery, in a line for people. */
  readonly say?: (line: string) => void;
}

/** A delivery as it arrived. */
export interface Received {
  readonly atMs: number;
  readonly path: string;
  readonly id: string;
  readonly type: string;
  readonly attempt: number;
  readonly headers: readonly HeaderPair[];
  /** By lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly body: Buffer;
  readonly verdict: Verdict;
}

export interface Receiver {
  /** Without a slash at its end: a subscription's URL is this and any path, and a behaviour if wanted. */
  readonly url: string;
  /** The latest deliveries, in the order in which they arrived; empty while counting. */
  readonly received: readonly Received[];
  /** How often each event arrived, by path and id. */
  readonly arrivals: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** All requests that were deliveries, and all connections. */
  counts(): { readonly deliveries: number; readonly connections: number; readonly open: number };
  /** A secret that signatures are checked with from now on. */
  trust(secret: string): void;
  /** What deliveries to a path get from now on, in place of what their URL says; undefined ends that. */
  behave(path: string, behaviour: string | undefined): void;
  forget(): void;
  close(): Promise<void>;
}

/**
 * A receiver of webhooks that does what it is told (see `Behaviour`). Paths below `/_` are for whoever runs it
 * (see control.ts), every other is for deliveries.
 */
export const startReceiver = async (options: ReceiverOptions = {}): Promise<Receiver> => {
  const { port = 0, host = '127.0.0.1', tls, counting = false, counted, keep = 1000, say } = options;
  const received: Received[] = [];
  const arrivals = new Map<string, Map<string, number>>();
  const requestsTo = new Map<string, number>();
  const behaviours = new Map<string, string>();
  const secrets: string[] = [];
  let deliveries = 0;
  let connections = 0;
  let open = 0;

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
    const header = (name: string) => request.headers[name] as string | undefined;
    const one: Received = {
      atMs: Date.now(),
      path,
      id: header('x-webhook-id') ?? '',
      type: header('x-webhook-event') ?? '',
      attempt: Number(header('x-webhook-attempt') ?? 0),
      headers: pairs(request.rawHeaders),
      header,
      body,
      verdict: verdictOn(
        secrets,
        header('x-webhook-timestamp') ?? '',
        header('x-webhook-signature') ?? '',
        body,
        Date.now(),
      ),
    };
    if (received.push(one) > keep) received.shift();
    return one;
  };

  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const body = counting && !counted ? await drained(request) : await bytesOf(request);
    if (path.startsWith('/_') || request.method !== 'POST')
      return answerControl(receiver, request, response, body);
    const turn = { request, response, body, ...count(path, String(request.headers['x-webhook-id'] ?? '')) };
    counted?.(path, request.rawHeaders, body);
    const one = counting ? undefined : keepIt(request, path, body);
    const said = behaviours.get(path) ?? query;
    const did =
      said === '' ? quick(response) : await act(new URLSearchParams(said) satisfies Behaviour, turn);
    if (one && say) say(lineOf(one, did));
  };

  const listener: RequestListener = (request, response) => {
    // A sender that goes away in the middle is nobody's error here.
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

  const receiver: Receiver = {
    url: `${tls ? 'https' : 'http'}://${host}:${(server.address() as AddressInfo).port}`,
    received,
    arrivals,
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
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return receiver;
};

/** What most deliveries get, at the least cost. */
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

const pairs = (raw: readonly string[]): HeaderPair[] =>
  Array.from({ length: raw.length / 2 }, (_, at) => [raw[at * 2] ?? '', raw[at * 2 + 1] ?? '']);
