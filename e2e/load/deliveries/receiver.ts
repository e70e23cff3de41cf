import { createServer } from 'node:http';
import { startReceiver } from '@causeway/local/receiver';

// The receiving end of the load, as a program of its own, so that its CPU time is not the sender's.
// Arguments: the port for deliveries, and the port on which the bench asks:
//   GET  /count   what has come since the last reset, as `Counted`; ?brief leaves the times out
//   POST /reset   forgets it

/** Arrivals below `/counted/`. */
export interface Counted {
  /** Deliveries, and the different events and paths among them. */
  readonly deliveries: number;
  readonly distinct: number;
  /** Milliseconds from an event's time to its arrival here, in the order of arrival; the first million. */
  readonly elapsedMs: readonly number[];
  /** Headers and body of one of them. */
  readonly sample: { readonly headers: readonly string[]; readonly body: string } | null;
}

const maxElapsed = 1_000_000;
const timeField = '"createdUtc":"';
const [port = 0, askedAt = 0] = process.argv.slice(2).map(Number);
let deliveries = 0;
let elapsedMs: number[] = [];
let sample: Counted['sample'] = null;

const receiver = await startReceiver({
  port,
  counting: true,
  counted: (path, headers, body) => {
    if (!path.startsWith('/counted/')) return;
    deliveries++;
    sample ??= { headers, body: body.toString() };
    if (elapsedMs.length >= maxElapsed) return;
    const at = body.indexOf(timeField) + timeField.length;
    elapsedMs.push(Date.now() - Date.parse(body.toString('latin1', at, at + 24)));
  },
});

const distinct = (): number =>
  [...receiver.arrivals].reduce((sum, [path, ids]) => sum + (path.startsWith('/counted/') ? ids.size : 0), 0);

createServer((request, response) => {
  if (request.method === 'POST') {
    receiver.forget();
    deliveries = 0;
    elapsedMs = [];
    response.end();
    return;
  }
  const counted = { deliveries, distinct: distinct(), elapsedMs, sample } satisfies Counted;
  response.end(JSON.stringify(request.url === '/count?brief' ? { ...counted, elapsedMs: [] } : counted));
}).listen(askedAt, '127.0.0.1');
