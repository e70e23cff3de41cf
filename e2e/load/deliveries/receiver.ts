import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

// The receiving end of the load: answers at once and counts. Paths below /hang never answer, those below
// /fail answer 500. Started as a program of its own, so that its CPU time is not the sender's.
//   GET  /_count   what has come since the last reset, as `Counted`
//   POST /_reset   forgets it

/** Arrivals at the paths that answer 200. */
export interface Counted {
  /** Requests, and the different events and paths among them. */
  readonly requests: number;
  readonly distinct: number;
  /** Requests to /hang and /fail. */
  readonly others: number;
  /** Milliseconds from an event's time to its arrival here, in the order of arrival; the first million. */
  readonly elapsedMs: readonly number[];
  /** Headers and body of the last one. */
  readonly last: { readonly headers: readonly string[]; readonly body: string } | null;
}

let requests = 0;
let others = 0;
let seen = new Set<string>();
let elapsedMs: number[] = [];
let last: Counted['last'] = null;
const maxElapsed = 1_000_000;

const reset = (): void => {
  requests = 0;
  others = 0;
  seen = new Set();
  elapsedMs = [];
};

const arrive = (request: IncomingMessage, body: Buffer): void => {
  const now = Date.now();
  requests++;
  seen.add(`${request.url} ${request.headers['x-webhook-id']}`);
  if (elapsedMs.length < maxElapsed) {
    const at = body.indexOf('"createdUtc":"') + 14;
    elapsedMs.push(now - Date.parse(body.toString('latin1', at, at + 24)));
  }
  if (requests % 1000 === 1) last = { headers: request.rawHeaders, body: body.toString() };
};

const answer = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'Content-Length': text.length, 'Content-Type': 'text/plain' }).end(text);
};

const server = createServer((request, response) => {
  const url = request.url ?? '';
  if (url.startsWith('/_count')) {
    const counted: Counted = { requests, distinct: seen.size, others, elapsedMs, last };
    response.end(JSON.stringify(url === '/_count?brief' ? { ...counted, elapsedMs: [] } : counted));
    return;
  }
  if (url === '/_reset') {
    reset();
    answer(response, 200, 'ok');
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (url.startsWith('/hang') || url.startsWith('/fail')) {
      others++;
      if (url.startsWith('/fail')) answer(response, 500, 'no');
      return;
    }
    arrive(request, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    answer(response, 200, 'ok');
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1');
