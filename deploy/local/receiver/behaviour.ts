import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { challengeType } from '@causeway/proto';

/**
 * What a receiver does with a delivery, as a query string, so that a subscription's URL can carry it:
 *
 * | | |
 * |---|---|
 * | `status=410`, `status=500,500,200` | what it answers; several take turns (200) |
 * | `fail=2` | refuses each event so often, with the status or 500, and then takes it |
 * | `delay=1500` | waits so many milliseconds before it answers |
 * | `body=20000` | a body of so many bytes |
 * | `echo` | answers a verification challenge with its echo |
 * | `retryAfter=120` | the header `Retry-After`, seconds or a date |
 * | `redirect=URL` | 302, or the status, with `Location` |
 * | `hang`, `hang=body` | never answers; never ends its body |
 * | `drip=100`, `drip=head` | a byte of body every so many milliseconds, without end; the same with headers |
 * | `reset`, `reset=body` | ends the connection in place of an answer, or in the body |
 * | `length=99` | says that the body is so long, whatever it is |
 * | `headers=endless`, `headers=100` | headers without end; so many |
 * | `bomb=100000000` | a gzip of so many zeros |
 * | `garbage` | what is not HTTP |
 */
export type Behaviour = URLSearchParams;

export interface Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  /** From one: which request to this path it is, and which for this event. */
  readonly nth: number;
  readonly nthOfEvent: number;
}

/** @returns what it did, in a word, for the log */
export const act = async (behaviour: Behaviour, turn: Turn): Promise<string> => {
  const { request, response } = turn;
  const { socket } = request;
  const has = (name: string, value?: string): boolean =>
    value === undefined ? behaviour.has(name) : behaviour.get(name) === value;
  const delayMs = Number(behaviour.get('delay') ?? 0);
  if (delayMs > 0) await sleep(delayMs);

  if (has('hang') && !has('hang', 'body')) return 'hangs';
  if (has('reset') && !has('reset', 'body')) {
    socket.resetAndDestroy();
    return 'resets';
  }
  if (has('garbage')) {
    socket.write('SSH-2.0-OpenSSH_9.2\r\n');
    return 'says garbage';
  }
  const status = statusOf(behaviour, turn);
  const begin = `HTTP/1.1 ${status} Said\r\n`;
  if (has('headers', 'endless') || has('drip', 'head')) {
    socket.write(begin);
    const [line, everyMs] = has('drip', 'head')
      ? ['x-drip: 1\r\n', 100]
      : ['x-more: and more\r\n'.repeat(50), 1];
    repeat(turn, everyMs, () => socket.write(line));
    return `${status} with endless headers`;
  }
  if (has('drip')) {
    response.writeHead(status).flushHeaders();
    repeat(turn, Number(behaviour.get('drip')) || 100, () => response.write('.'));
    return `${status} that drips`;
  }
  if (has('bomb')) {
    response.writeHead(status, { 'Content-Encoding': 'gzip' });
    const gzip = createGzip();
    gzip.pipe(response);
    zeros(gzip, Number(behaviour.get('bomb')));
    return `${status} with a bomb`;
  }
  const body = bodyOf(behaviour, status, turn);
  const more = Math.min(Number(behaviour.get('headers') ?? 0), 1e6);
  const headers = [
    ['Content-Type', 'text/plain'],
    ['Content-Length', behaviour.get('length') ?? String(body.length)],
    ...(has('retryAfter') ? [['Retry-After', behaviour.get('retryAfter') ?? '']] : []),
    ...(has('redirect') ? [['Location', behaviour.get('redirect') ?? '']] : []),
    ...Array.from({ length: more }, (_, at) => [`X-Header-${at + 1}`, 'x']),
  ];
  if (has('length') || has('hang') || has('reset')) {
    // Written past `node:http`, which would mend it.
    const half = has('length') ? body : body.subarray(0, body.length >> 1);
    socket.write(begin + headers.map(([name, value]) => `${name}: ${value}\r\n`).join(''));
    socket.write(Buffer.concat([Buffer.from('\r\n'), half]));
    if (has('reset')) setTimeout(() => socket.resetAndDestroy(), 20);
    else if (has('length')) socket.end();
    return `${status} with half a body`;
  }
  response
    .writeHead(status, headers.flat() as string[])
    .end(status === 204 || status === 304 ? undefined : body);
  return String(status);
};

const statusOf = (behaviour: Behaviour, { nth, nthOfEvent }: Turn): number => {
  const given = behaviour.get('status')?.split(',').map(Number).filter(isStatus) ?? [];
  const fails = Number(behaviour.get('fail') ?? 0);
  if (fails > 0) return nthOfEvent > fails ? 200 : (given[0] ?? 500);
  return given[(nth - 1) % given.length] ?? (behaviour.has('redirect') ? 302 : 200);
};

const isStatus = (status: number): boolean => Number.isInteger(status) && status >= 200 && status <= 999;

const bodyOf = (behaviour: Behaviour, status: number, { request, body }: Turn): Buffer => {
  if (behaviour.has('echo') && request.headers['x-webhook-event'] === challengeType)
    return Buffer.from(JSON.stringify({ challenge: JSON.parse(body.toString()).payload.challenge }));
  const bytes = Number(behaviour.get('body') ?? -1);
  if (bytes >= 0) return Buffer.alloc(Math.min(bytes, 2 ** 28), 'x');
  return Buffer.from(status < 300 ? 'thank you' : 'no, thank you');
};

const repeat = ({ request }: Turn, everyMs: number, say: () => void): void => {
  const timer = setInterval(say, everyMs);
  request.socket.once('close', () => clearInterval(timer));
};

/** As fast as they are taken, so that a bomb of any size needs no memory here. */
const zeros = (to: NodeJS.WritableStream, bytes: number): void => {
  const block = Buffer.alloc(64 * 1024);
  let left = bytes;
  const write = (): void => {
    while (left > 0) {
      const next = block.subarray(0, Math.min(left, block.length));
      left -= next.length;
      if (!to.write(next)) return void to.once('drain', write);
    }
    to.end();
  };
  write();
};
