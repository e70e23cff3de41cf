import type { EventEmitter } from 'node:events';
import { Client } from 'undici';
import type { Connect, Opening } from './connect.ts';
import { Failure } from './failure.ts';
import { passOverContinue } from './pass-over-continue.ts';

/** One connection to one origin, used by one request at a time. It is never opened again. */
export interface Line {
  readonly client: Client;
  readonly opening: Opening;
  readonly origin: string;
  readonly openedMs: number;
  /** Whether a request has been sent over it. */
  used: boolean;
  /** Ends it, whatever it is doing. */
  end(): void;
}

export interface Lines {
  /** An idle line that is still good, else a new one. */
  take(url: URL, fresh?: boolean): Line;
  /** Gives back a line whose answer was read to its end. */
  giveBack(line: Line): void;
  counts(): { readonly open: number; readonly idle: number };
  close(): void;
}

export interface LinesContext {
  readonly connect: Connect;
  readonly now: () => number;
}

/**
 * Idle lines kept for one origin. Many subscriptions may lead to one; with 64, two hundred of them opened and
 * closed lines all the time, which was a fifth of this process's time.
 */
const idlePerOrigin = 512;
const idleAltogether = 2048;
/** So long a line is used on: a receiver that has moved is followed after that. */
const lifetimeMs = 60_000;
/** An idle line is closed after this, or earlier where the receiver's `Keep-Alive` says so. */
const idleMs = 4000;
const longestIdleMs = 30_000;
/** So much earlier than the receiver does. */
const idleMarginMs = 1000;

/**
 * The open connections. How many of them are in use is bounded by whoever takes them, so that nobody waits for
 * a line here; an origin nobody posts to is forgotten with its last idle line.
 */
export const createLines = ({ connect, now }: LinesContext): Lines => {
  const idle = new Map<string, Line[]>();
  let idleCount = 0;
  let openCount = 0;
  let closed = false;

  const drop = (line: Line) => {
    const others = idle.get(line.origin);
    const at = others?.lastIndexOf(line) ?? -1;
    if (!others || at < 0) return;
    others.splice(at, 1);
    idleCount -= 1;
    if (others.length === 0) idle.delete(line.origin);
  };

  const open = (url: URL): Line => {
    openCount += 1;
    const line = openLine(url, connect, now(), () => {
      openCount -= 1;
      drop(line);
    });
    return line;
  };

  return {
    take: (url, fresh = false) => {
      // The one that was used last, so that those a lull makes superfluous time out.
      const line = fresh ? undefined : idle.get(url.origin)?.at(-1);
      if (!line) return open(url);
      drop(line);
      return line;
    },
    giveBack: (line) => {
      const others = idle.get(line.origin) ?? [];
      const keeps = !closed && others.length < idlePerOrigin && idleCount < idleAltogether;
      if (!keeps || line.client.destroyed || now() - line.openedMs > lifetimeMs) return line.end();
      others.push(line);
      idle.set(line.origin, others);
      idleCount += 1;
    },
    counts: () => ({ open: openCount, idle: idleCount }),
    close: () => {
      closed = true;
      for (const line of [...idle.values()].flat()) line.end();
    },
  };
};

const openLine = (url: URL, connect: Connect, openedMs: number, ended: () => void): Line => {
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
    // The deadline is one for everything, and kept by whoever posts.
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
  client.once('connect', () => passOverContinue(opening.socket!));
  client.on('disconnect', end);
  client.on('connectionError', end);
  // Without a listener it would be thrown.
  (client as EventEmitter).on('error', end);
  return { client, opening, origin, openedMs, used: false, end };
};
