import { isIP } from 'node:net';
import type { Log } from '../log.ts';
import { eachTick } from '../repeat.ts';
import { createAwakeClock } from './clock.ts';
import { DatabaseUnavailable, isConnectionLimit } from './errors.ts';
import {
  lookUpAddresses,
  noAnswerError,
  type OpenOptions,
  openServerConnection,
  type ServerConnection,
} from './server-connection.ts';

export interface Pool {
  /** @throws DatabaseUnavailable at once while the server is unreachable. */
  acquire(): Promise<ServerConnection>;
  release(connection: ServerConnection, isUsable: boolean): void;
  use(): { readonly inUse: number; readonly waiting: number };
  isReachable(): boolean;
  /** Waits up to five seconds until `isIdle`, then closes every connection. */
  close(isIdle: () => boolean): Promise<void>;
}

/** Keeps up to `size` connections, or as many as the server gives, and notices within a second when it has gone (README.md). */
export const createPool = (options: PoolOptions): Pool => {
  const { address, where, size, queueLimit, acquireTimeoutMs, connectTimeoutMs, log, onExpired } = options;
  const silentMs = options.isVtgate ? silentVtgateMs : silentServerMs;
  const clock = createAwakeClock(watchEveryMs);
  const all = new Set<ServerConnection>();
  /** The one used last is at the end. */
  const free: ServerConnection[] = [];
  const usedMs = new WeakMap<ServerConnection, number>();
  const waiters: Waiter[] = [];
  let inUse = 0;
  let opening = 0;
  let heardMs: number | undefined;
  let unreachable: Error | undefined;
  let nextOpenMs = 0;
  let addresses: readonly string[] = [];
  let nextLookUpMs = 0;
  let closed = false;

  const open = () =>
    openServerConnection({
      ...options,
      // Before the first answer a machine that starts everything at once is slow.
      connectTimeoutMs: heardMs === undefined ? connectTimeoutMs : Math.min(connectTimeoutMs, openTimeoutMs),
      now: clock.now,
      onHeard: () => {
        heardMs = clock.now();
        if (unreachable) log?.info({ server: where }, 'MySQL reachable again');
        unreachable = undefined;
      },
      onAddresses: setAddresses,
      onClosed: (connection) => {
        all.delete(connection);
        const at = free.indexOf(connection);
        if (at >= 0) free.splice(at, 1);
        grow();
      },
    });
  const setAddresses = (found: readonly string[]): void => {
    addresses = found;
    nextLookUpMs = performance.now() + lookUpEveryMs;
    for (const connection of free.filter(isFormer)) drop(connection, movedAwayError(where));
  };
  const isFormer = (connection: ServerConnection): boolean => {
    const own = connection.address();
    return own !== undefined && addresses.length > 0 && !addresses.includes(own);
  };
  const drop = (connection: ServerConnection, error: Error): void => {
    if (connection.askedMs() !== undefined) onExpired();
    connection.drop(error);
  };

  const grow = (): void => {
    while (!closed && mayOpen() && opening < waiters.length && all.size < size) void openOne();
  };
  const mayOpen = (): boolean => performance.now() >= nextOpenMs;
  const openOne = async (): Promise<void> => {
    opening++;
    const { connection, ready } = open();
    all.add(connection);
    const error = await ready.then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    opening--;
    if (!error) return offer(connection);
    all.delete(connection);
    const isLimit = isConnectionLimit(error);
    nextOpenMs = performance.now() + (isLimit ? limitPauseMs : openPauseMs);
    if (isLimit) heardMs = clock.now();
    // Otherwise those that wait are served by the other connections.
    if (all.size === 0) setUnreachable(error);
  };
  const setUnreachable = (error: Error): void => {
    if (!unreachable) log?.warn({ server: where, error }, 'MySQL unreachable');
    unreachable = error;
    for (const waiter of waiters.splice(0)) waiter.refuse(unreachableError(where, error));
  };
  const offer = (connection: ServerConnection): void => {
    if (closed || !connection.isOpen()) {
      connection.drop(closedError(where));
      return;
    }
    const waiter = waiters.shift();
    if (waiter) {
      inUse++;
      waiter.take(connection);
    } else if (all.size > size) retire(connection);
    else {
      usedMs.set(connection, performance.now());
      free.push(connection);
    }
  };
  const retire = (connection: ServerConnection): void => {
    all.delete(connection);
    connection.raw.end();
  };

  const watch = (): void => {
    clock.tick();
    const now = clock.now();
    const [coldest, another] = free;
    if (another && performance.now() - usedMs.get(coldest!)! >= retireAfterMs) retire(free.shift()!);
    const askedConnections = [...all].filter((one) => one.askedMs() !== undefined);
    for (const connection of askedConnections) {
      const waitedMs = now - connection.askedMs()!;
      if (connection.isOverdue() || (waitedMs >= silentMs.drop && isFormer(connection)))
        drop(connection, noAnswerError(where, waitedMs));
    }
    for (const connection of [...free]) {
      if (connection.askedMs() !== undefined) continue;
      if (isStale(connection)) connection.drop(closedError(where));
      else if (connection.quietMs() >= pingAfterMs)
        connection.ask<void>(silentMs.drop, (done) => connection.raw.ping(done)).catch(() => {});
    }
    const sinceMs = Math.max(heardMs ?? 0, Math.min(...askedConnections.map((one) => one.askedMs()!)));
    const quietMs = askedConnections.length > 0 && heardMs !== undefined ? now - sinceMs : 0;
    if (quietMs >= silentMs.unreachable && !unreachable) setUnreachable(noAnswerError(where, quietMs));
    if (quietMs >= silentMs.drop)
      for (const connection of all) drop(connection, noAnswerError(where, quietMs));
    // A new connection tells a silent server from slow statements, and looks up the host's address.
    if (opening === 0 && mayOpen() && (unreachable || quietMs >= silentMs.suspect)) void openOne();
    else grow();
    if (performance.now() >= nextLookUpMs) lookUp();
  };
  const lookUp = (): void => {
    nextLookUpMs = performance.now() + lookUpEveryMs;
    if (all.size > 0 && !address.socketPath && !isIP(address.host)) lookUpAddresses(options, setAddresses);
  };
  const stopWatching = eachTick(watch, watchEveryMs);

  return {
    acquire: async () => {
      if (closed) throw closedError(where);
      if (unreachable) throw unreachableError(where, unreachable);
      for (let next = free.pop(); next; next = free.pop()) {
        if (next.isOpen() && !isStale(next)) {
          inUse++;
          return next;
        }
        next.drop(closedError(where));
      }
      if (waiters.length >= queueLimit)
        throw busyError(`too many queries are waiting for a connection to ${where}`);
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          clearTimeout(timer);
          const at = waiters.indexOf(waiter);
          if (at >= 0) waiters.splice(at, 1);
        };
        const waiter: Waiter = {
          take: (connection) => {
            leave();
            resolve(connection);
          },
          refuse: (error) => {
            leave();
            reject(error);
          },
        };
        const timer = setTimeout(
          () =>
            waiter.refuse(
              busyError(
                `no connection to MySQL at ${where} within ${acquireTimeoutMs} ms, ${inUse} are in use`,
              ),
            ),
          acquireTimeoutMs,
        );
        waiters.push(waiter);
        grow();
      });
    },
    release: (connection, isUsable) => {
      inUse--;
      if (isUsable && connection.isOpen() && !isFormer(connection)) offer(connection);
      else connection.drop(closedError(where));
    },
    use: () => ({ inUse, waiting: waiters.length }),
    isReachable: () => unreachable === undefined,
    close: async (isIdle) => {
      const deadlineMs = performance.now() + closeTimeoutMs;
      while (!isIdle() && performance.now() < deadlineMs) await new Promise((done) => setTimeout(done, 5));
      closed = true;
      stopWatching();
      for (const waiter of waiters.splice(0)) waiter.refuse(closedError(where));
      await Promise.all([...all].map(end));
    },
  };
};

interface PoolOptions extends Pick<OpenOptions, 'address' | 'session' | 'connectTimeoutMs' | 'lookup'> {
  readonly where: string;
  readonly size: number;
  readonly queueLimit: number;
  readonly acquireTimeoutMs: number;
  readonly isVtgate: boolean;
  readonly log?: Log | undefined;
  readonly onExpired: () => void;
}

interface Waiter {
  take(connection: ServerConnection): void;
  refuse(error: Error): void;
}

const watchEveryMs = 250;
/** How long the server may be silent when asked. */
const silentServerMs = { suspect: 300, unreachable: 900, drop: 3_000 } as const;
/** vtgate holds statements back while a shard is split or gets another primary. Calls end after five seconds anyway. */
const silentVtgateMs = { suspect: 1_000, unreachable: 6_000, drop: 10_000 } as const;
const pingAfterMs = 1_000;
/** Pings of connections that nobody uses were a third of what MySQL did at rest. The last one stays. */
const retireAfterMs = 10_000;
const openTimeoutMs = 3_000;
/** A failed open delays the next. */
const openPauseMs = 100;
const limitPauseMs = 1_000;
const lookUpEveryMs = 10_000;
const closeTimeoutMs = 5_000;
const endTimeoutMs = 1_000;

const isStale = (connection: ServerConnection): boolean => connection.quietMs() >= 2 * pingAfterMs;

const end = async ({ raw, drop }: ServerConnection): Promise<void> => {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, endTimeoutMs);
    raw.end(() => {
      clearTimeout(timer);
      resolve();
    });
  });
  drop(new Error('closed'));
};

const busyError = (message: string) => new DatabaseUnavailable('busy', message);

const closedError = (where: string) =>
  new DatabaseUnavailable('closed', `the connections to MySQL at ${where} were closed`);

const movedAwayError = (where: string) => new Error(`${where} points to another server now`);

const unreachableError = (where: string, error: NodeJS.ErrnoException): DatabaseUnavailable =>
  new DatabaseUnavailable(
    'unreachable',
    `cannot connect to MySQL at ${where}: ${error.code ?? error.message}`,
    {
      cause: error,
    },
  );
