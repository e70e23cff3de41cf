import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Client } from 'undici';
// @ts-expect-error undici has no types for its internals.
import symbols from 'undici/lib/core/symbols.js';
import type { Connect, Opening } from './connect.ts';
import { Failure } from './failure.ts';

/** Used by one request at a time. It never reconnects. */
export interface Connection {
  readonly client: Client;
  readonly opening: Opening;
  readonly origin: string;
  readonly openedMs: number;
  used: boolean;
  /**
   * Called with the status of the final answer if its line has come whole, and its head has not. Set it before each
   * request.
   */
  onStatusLine: ((status: number) => void) | undefined;
  end(): void;
}

export interface ConnectionPool {
  /** A new connection if `fresh`, or if none is idle. */
  take(url: URL, fresh?: boolean): Connection;
  giveBack(connection: Connection): void;
  /** The receiver closes kept connections without saying so: for a minute none of this origin is kept. */
  keepNone(origin: string): void;
  counts(): { readonly open: number; readonly idle: number };
  close(): void;
}

interface ConnectionPoolContext {
  readonly connect: Connect;
  readonly now: () => number;
}

/**
 * Subscriptions may share an origin: with 64, two hundred subscriptions opened and closed connections all the
 * time, which took a fifth of this process's CPU time.
 */
const idlePerOrigin = 512;
const idleAltogether = 2048;
/** Then a new connection resolves the name again, in case the receiver has moved. */
const lifetimeMs = 60_000;
/** Or earlier if the receiver's `Keep-Alive` says so. */
const idleMs = 4000;
const longestIdleMs = 30_000;
/** Idle connections close this much earlier than the receiver would close them. */
const idleMarginMs = 1000;
const keepNoneMs = 60_000;
const maxUnkept = 1000;

/** Callers limit how many connections they use, so this pool has no queue. */
export const createConnectionPool = ({ connect, now }: ConnectionPoolContext): ConnectionPool => {
  const idle = new Map<string, Connection[]>();
  const unkept = new Map<string, number>();
  let idleCount = 0;
  let openCount = 0;
  let closed = false;

  const drop = (connection: Connection) => {
    const others = idle.get(connection.origin);
    const at = others?.lastIndexOf(connection) ?? -1;
    if (!others || at < 0) return;
    others.splice(at, 1);
    idleCount -= 1;
    if (others.length === 0) idle.delete(connection.origin);
  };

  const open = (url: URL): Connection => {
    openCount += 1;
    const connection = openConnection(url, connect, now(), () => {
      openCount -= 1;
      drop(connection);
    });
    return connection;
  };

  return {
    take: (url, fresh = false) => {
      // The most recently used one, so that surplus connections become idle and time out.
      const connection = fresh ? undefined : idle.get(url.origin)?.at(-1);
      if (!connection) return open(url);
      drop(connection);
      return connection;
    },
    giveBack: (connection) => {
      const others = idle.get(connection.origin) ?? [];
      const isKept = (unkept.get(connection.origin) ?? 0) <= now();
      const keeps = isKept && !closed && others.length < idlePerOrigin && idleCount < idleAltogether;
      if (!keeps || connection.client.destroyed || now() - connection.openedMs > lifetimeMs)
        return connection.end();
      others.push(connection);
      idle.set(connection.origin, others);
      idleCount += 1;
    },
    keepNone: (origin) => {
      if (unkept.size >= maxUnkept) unkept.clear();
      unkept.set(origin, now() + keepNoneMs);
      for (const connection of [...(idle.get(origin) ?? [])]) connection.end();
    },
    counts: () => ({ open: openCount, idle: idleCount }),
    close: () => {
      closed = true;
      for (const connection of [...idle.values()].flat()) connection.end();
    },
  };
};

const openConnection = (url: URL, connect: Connect, openedMs: number, ended: () => void): Connection => {
  const { origin } = url;
  const opening: Opening = {
    dnsMs: null,
    connectMs: null,
    tlsMs: null,
    address: null,
    doing: 'dns',
    socket: null,
  };
  let begun = false;
  let over = false;
  const client = new Client(origin, {
    // The caller enforces one deadline for the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16 * 1024,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: longestIdleMs,
    keepAliveTimeoutThreshold: idleMarginMs,
    allowH2: false,
    connect: (_options, callback) => {
      if (begun)
        return callback(new Failure('reset', 'The connection ended before the request was sent.'), null);
      begun = true;
      connect(url, opening, () => over).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
  });
  const end = () => {
    if (over) return;
    over = true;
    opening.socket?.destroy();
    ended();
    client.destroy(null).catch(() => {});
  };
  const connection: Connection = {
    client,
    opening,
    origin,
    openedMs,
    used: false,
    onStatusLine: undefined,
    end,
  };
  client.once('connect', () => adaptParser(opening.socket!, connection));
  client.on('disconnect', end);
  client.on('connectionError', end);
  // Without a listener the error would be thrown.
  (client as EventEmitter).on('error', end);
  return connection;
};

/**
 * Makes undici ignore `100 Continue` like every other interim answer (RFC 9110, section 15.2): its parser closes the connection
 * at a 100 and has no option for it, so the parser gets a 102 instead. Folded header lines are taken (RFC 9112, section 5.2).
 * Tells the status as soon as its line is whole, because undici does only when the head is, and valid.
 */
const adaptParser = (socket: Socket, connection: Connection): void => {
  const parser = (socket as unknown as Record<symbol, Parser>)[symbols.kParser]!;
  const { onHeadersComplete, execute } = parser;
  parser.llhttp.llhttp_set_lenient_headers(parser.ptr, 1);
  parser.onHeadersComplete = (statusCode, ...rest) => {
    if (statusCode >= 200) connection.onStatusLine = undefined;
    return onHeadersComplete.call(parser, statusCode === 100 ? 102 : statusCode, ...rest);
  };
  let text = '';
  parser.execute = (chunk) => {
    execute.call(parser, chunk);
    const { onStatusLine } = connection;
    text = onStatusLine ? text + chunk.toString('latin1', 0, maxStatusBytes) : '';
    if (!onStatusLine || text.length > maxStatusBytes || !chunk.includes(lineFeed)) return;
    const status = finalStatusIn(text);
    if (status === undefined) return;
    connection.onStatusLine = undefined;
    onStatusLine(status);
  };
};

/** A longer line tells its status with the rest of the head. */
const maxStatusBytes = 4096;
const lineFeed = 10;

/** Undefined until the status line is whole that follows the interim answers. */
const finalStatusIn = (text: string): number | undefined => {
  const line = /HTTP\/1\.\d (\d{3})(?: [^\r\n]*)?\r?\n/y;
  for (;;) {
    const status = Number(line.exec(text)?.[1] ?? 0);
    if (status >= 200) return status;
    const end = status >= 100 ? text.indexOf('\r\n\r\n', line.lastIndex - 2) : -1;
    if (end < 0) return undefined;
    line.lastIndex = end + 4;
  }
};

interface Parser {
  readonly llhttp: { llhttp_set_lenient_headers(pointer: number, enabled: number): void };
  readonly ptr: number;
  execute(chunk: Buffer): void;
  onHeadersComplete(statusCode: number, ...rest: readonly unknown[]): number;
}
