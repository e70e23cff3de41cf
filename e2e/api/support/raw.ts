import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The bytes that a raw connection received. */
interface RawAnswer {
  /** All bytes received, one character for each byte. */
  readonly text: string;
  readonly closed: boolean;
  readonly elapsedMs: number;
  /** Status codes of the answers, in order. */
  readonly statuses: readonly number[];
}

export interface RawOptions {
  /** Close the sending side after the bytes. */
  readonly end?: boolean;
  /** Read until this many answers arrived, the connection is closed, or the timeout. */
  readonly answers?: number;
  readonly timeoutMs?: number;
}

/** Sends bytes unchanged, and reads the answer. */
export const rawExchange = (
  baseUrl: string,
  bytes: string | Uint8Array,
  { end = false, answers = 1, timeoutMs = 60_000 }: RawOptions = {},
): Promise<RawAnswer> =>
  new Promise((resolve) => {
    const startedMs = performance.now();
    let text = '';
    const finish = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed, elapsedMs: performance.now() - startedMs, statuses: statusesOf(text) });
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    const socket = rawSocket(baseUrl);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (statusesOf(text).length >= answers && isWhole(text)) finish(false);
    });
    socket.on('error', () => {});
    socket.on('close', () => finish(true));
    if (end) socket.end(bytes);
    else socket.write(bytes);
  });

export const rawSocket = (baseUrl: string): Socket => {
  const { hostname, port } = new URL(baseUrl);
  return connect(Number(port), hostname);
};

/** A connection whose bytes are kept as they arrive, one character for each byte. */
export const listeningSocket = (baseUrl: string) => {
  const socket = rawSocket(baseUrl).setNoDelay(true);
  const heard = { socket, text: '', closed: false };
  socket
    .on('error', () => {})
    .on('data', (chunk) => {
      heard.text += chunk.toString('latin1');
    })
    .on('close', () => {
      heard.closed = true;
    });
  return heard;
};

/** A connection that reads nothing until its socket is resumed. */
interface DeafConnection {
  readonly socket: Socket;
  closed(): boolean;
  /** Writes until everything is sent, the server accepts nothing for half a second, or the connection is closed. */
  write(bytes: Buffer): Promise<void>;
}

export const deafConnection = (baseUrl: string): DeafConnection => {
  const socket = rawSocket(baseUrl);
  let closed = false;
  socket
    .on('error', () => {})
    .on('close', () => {
      closed = true;
    })
    .pause();
  return {
    socket,
    closed: () => closed,
    write: async (bytes) => {
      if (closed || socket.write(bytes)) return;
      for (let left = 50; left > 0 && socket.writableNeedDrain && !closed; left--) await sleep(10);
    },
  };
};

/** The head of a request, ready to send. */
export const rawRequest = (line: string, headers: readonly string[], body = ''): string =>
  [line, 'Host: localhost', ...headers, '', body].join('\r\n');

export const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

/** Whether the last answer is complete. An answer that closes the connection ends with it. */
const isWhole = (text: string): boolean => {
  const headAt = text.lastIndexOf('HTTP/1.1 ');
  const bodyAt = text.indexOf('\r\n\r\n', headAt);
  if (bodyAt < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(headAt, bodyAt))?.[1];
  return length !== undefined && text.length - bodyAt - 4 >= Number(length);
};
