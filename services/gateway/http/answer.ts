import { STATUS_CODES } from 'node:http';
import type { HttpResponse } from './uws.ts';

export interface Outgoing {
  readonly status: number;
  readonly body: Uint8Array | string | null;
  readonly headers: HeaderText;
}

/** The value of `X-Request-Id`, and every further header on a line of its own (`headerLines`). */
export type HeaderText = string;

/** Follows a header's value. One native call for each header took a tenth of the gateway's processor time. */
export const headerLines = (headers: Iterable<readonly [name: string, value: string]>): string => {
  let lines = '';
  for (const [name, value] of headers) lines += `\r\n${name}: ${value}`;
  return lines;
};

export interface Sending {
  /** HEAD gets the answer of GET without the body. */
  readonly head: boolean;
  /**
   * - `open`: the connection serves further requests.
   * - `close`: the client has asked to close it, and uWebSockets.js or the client does so.
   * - `drain`: the gateway closes it when the client has taken the answer.
   * - `sealed`: the gateway reads no further requests from it; for requests whose end is uncertain.
   */
  readonly after: 'open' | 'close' | 'drain' | 'sealed';
  readonly unsent: Unsent;
}

export interface Unsent {
  answers: number;
  thisTurn: number;
}

/** uWebSockets.js closes a connection that has been idle for 8 to 12 seconds (its timer ticks every four). */
const keepAliveSeconds = 8;
/** uWebSockets.js buffers up to 16 KiB written in one tick, heads included. */
const smallBytes = 8 * 1024;
/** uWebSockets.js serves up to 512 KiB of requests from one connection in one turn. */
const maxPerTurn = 64;
/** How long a sealed connection stays open for its client to take the answer. */
const sealedMs = { small: 1000, large: 10_000 } as const;

/**
 * Writes an answer no faster than its client takes it: at most one small answer (16 KiB) and one head wait in
 * memory for a connection, because uWebSockets.js closes a connection on which a request arrives before the
 * kernel has taken the whole last answer. A larger body is written without a copy.
 * An answer beyond `maxPerTurn` is written in the next turn. So a client that pipelines requests for small
 * answers loses its connection and delays no other client noticeably.
 * The connection ends after sealed answers and after those without a body (HEAD, 204, 304), because the
 * library does not report whether a head alone was taken.
 * @returns a function to call when the client has disconnected.
 */
export const writeAnswer = (response: HttpResponse, outgoing: Outgoing, sending: Sending): (() => void) => {
  const { unsent } = sending;
  if (unsent.thisTurn === 0) setImmediate(() => (unsent.thisTurn = 0));
  if (++unsent.thisTurn <= maxPerTurn) return write(response, outgoing, sending);

  unsent.answers++;
  const later = setImmediate(() => {
    unsent.answers--;
    stop = write(response, outgoing, sending);
  });
  let stop = (): void => {
    unsent.answers--;
    clearImmediate(later);
  };
  return () => stop();
};

const write = (
  response: HttpResponse,
  { status, body, headers }: Outgoing,
  { head, after, unsent }: Sending,
): (() => void) => {
  const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? nothing);
  const hasNoBody = status === 204 || status === 304;
  if (head || hasNoBody || bytes.byteLength === 0 || after === 'sealed') {
    const shown = head || hasNoBody ? nothing : bytes;
    return writeSealed(response, { status, headers, body: shown }, hasNoBody ? undefined : bytes.byteLength);
  }

  let done = false;
  response.cork(() => {
    const drainsAtOnce = after === 'drain' && bytes.byteLength <= smallBytes;
    const connection = after === 'open' ? keepAlive : drainsAtOnce ? '' : closing;
    writeHead(response, status, headers + connection);
    if (drainsAtOnce) {
      response.end(bytes, true);
      done = true;
      return;
    }
    [, done] = response.tryEnd(bytes, bytes.byteLength);
  });
  if (done) return ignore;

  unsent.answers++;
  const release = (): void => {
    if (done) return;
    done = true;
    unsent.answers--;
  };
  const held = withoutItsFrame(bytes);
  response.onWritable((offset) => {
    const [taken, over] = response.tryEnd(held.subarray(offset), held.byteLength);
    if (over) release();
    return taken;
  });
  return release;
};

/**
 * Writes the whole answer as a head: to uWebSockets.js the request stays unanswered until the connection is
 * closed. A header ends with a line break, which is harmless after JSON.
 * @param bytes for Content-Length; undefined if the answer has no body (RFC 9110, 8.6).
 */
const writeSealed = (
  response: HttpResponse,
  {
    status,
    headers,
    body,
  }: { readonly status: number; readonly headers: Outgoing['headers']; body: Uint8Array },
  bytes: number | undefined,
): (() => void) => {
  const hasBody = body.byteLength > 0;
  response.cork(() => {
    const more: [string, string][] = [['Date', new Date().toUTCString()]];
    if (bytes !== undefined) more.push(['Content-Length', String(hasBody ? bytes + lineEnd.length : bytes)]);
    writeHead(response, status, headers + headerLines(more));
    response.writeHeader('Connection', hasBody ? Buffer.concat([closeAndBody, body]) : `close${lineEnd}`);
  });
  // Stops reading: a client that continues to send would cost more than its answer.
  response.pause();
  const timer = setTimeout(
    () => response.close(),
    body.byteLength > smallBytes ? sealedMs.large : sealedMs.small,
  );
  return () => clearTimeout(timer);
};

export const writeHead = (response: HttpResponse, status: number, headers: HeaderText): void => {
  if (status !== 200) response.writeStatus(statusLine(status));
  response.writeHeader('X-Request-Id', headers);
};

const keepAlive = headerLines([
  ['Connection', 'keep-alive'],
  ['Keep-Alive', `timeout=${keepAliveSeconds}`],
]);
const closing = headerLines([['Connection', 'close']]);

/** Copies the body: a service's answer is a slice of its frame, which a slow client would keep in memory. */
const withoutItsFrame = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength * 2 < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes;

const nothing = Buffer.alloc(0);
const lineEnd = '\r\n';
const closeAndBody = Buffer.from(`close${lineEnd}${lineEnd}`);
const ignore = (): void => {};

const statusLines = new Map<number, string>();
const statusLine = (status: number): string => {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    statusLines.set(status, line);
  }
  return line;
};
