import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { type Connection, createConnection } from 'mysql2';
import type { MysqlAddress } from './url.ts';

export interface ServerConnection {
  readonly raw: Connection;
  /** Answers arrive in the order of the commands. */
  ask<Result>(limitMs: number, send: (done: Done<Result>) => void): Promise<Result>;
  /** By `now`: when its current command was sent or the previous one answered; undefined if it is idle. */
  askedMs(): number | undefined;
  isOverdue(): boolean;
  quietMs(): number;
  address(): string | undefined;
  isOpen(): boolean;
  drop(error: Error): void;
}

export type Done<Result> = (error: Error | null, result: Result) => void;

/** `ready` resolves when the session is set. */
export const openServerConnection = (
  options: OpenOptions,
): { readonly connection: ServerConnection; readonly ready: Promise<void> } => {
  const { address, session, connectTimeoutMs, now, onHeard, onClosed } = options;
  const { socket, addresses } = openSocket(options);
  const raw = createConnection({ ...address, ...valueOptions, connectTimeout: 0, stream: () => socket });
  let askedAtMs: number | undefined;
  let limit = 0;
  let heardMs = performance.now();
  let pending = 0;
  let open = true;

  const connection: ServerConnection = {
    raw,
    ask: (limitMs, send) =>
      new Promise((resolve, reject) => {
        if (pending++ === 0) askedAtMs = now();
        limit = limitMs;
        const settle = (): void => {
          askedAtMs = --pending > 0 ? now() : undefined;
        };
        try {
          send((error, result) => {
            settle();
            if (isFatal(error)) open = false;
            else {
              heardMs = performance.now();
              onHeard();
            }
            if (error) reject(error);
            else resolve(result);
          });
        } catch (error) {
          // The command could not be rendered, and was not sent.
          settle();
          throw error;
        }
      }),
    askedMs: () => askedAtMs,
    isOverdue: () => askedAtMs !== undefined && now() - askedAtMs >= limit,
    quietMs: () => performance.now() - heardMs,
    address: () => socket.remoteAddress,
    isOpen: () => open,
    // Its own `destroy` would wait until the server has acknowledged everything sent.
    drop: (error) => socket.destroy(error),
  };
  socket.once('close', () => {
    open = false;
    onClosed(connection);
  });
  // An idle session that the server ends is told so before its socket closes.
  raw.on('error', (error) => {
    open = false;
    socket.destroy(error);
  });

  const ready = (async () => {
    try {
      await connection.ask<void>(connectTimeoutMs, (done) => raw.connect((error) => done(error, undefined)));
      options.onAddresses(addresses());
      await connection.ask(connectTimeoutMs, (done) => raw.query(session, done));
    } catch (error) {
      socket.destroy();
      throw error;
    }
  })();
  return { connection, ready };
};

export interface OpenOptions {
  readonly address: MysqlAddress;
  readonly session: string;
  readonly connectTimeoutMs: number;
  readonly lookup?: LookupFunction | undefined;
  readonly now: () => number;
  readonly onHeard: () => void;
  readonly onAddresses: (addresses: readonly string[]) => void;
  readonly onClosed: (connection: ServerConnection) => void;
}

export const lookUpAddresses = (
  { address: { host }, lookup = systemLookup as LookupFunction }: Pick<OpenOptions, 'address' | 'lookup'>,
  found: (addresses: readonly string[]) => void,
): void =>
  lookup(host, { all: true }, (error, result) => {
    if (!error) found(addressesOf(result));
  });

const addressesOf = (result: string | readonly LookupAddress[]): readonly string[] =>
  typeof result === 'string' ? [result] : result.map((one) => one.address);

export const noAnswerError = (where: string, afterMs: number): Error =>
  Object.assign(new Error(`MySQL at ${where} gave no answer within ${afterMs} ms`), {
    code: 'ETIMEDOUT',
    fatal: true,
  });

const isFatal = (error: (Error & { fatal?: boolean }) | null): boolean => error?.fatal === true;

const openSocket = ({
  address: { host, port, socketPath },
  lookup = systemLookup as LookupFunction,
}: OpenOptions): { readonly socket: Socket; readonly addresses: () => readonly string[] } => {
  if (socketPath !== undefined) return { socket: connect(socketPath), addresses: () => [] };
  let found: readonly string[] = isIP(host) ? [host] : [];
  const socket = connect({
    host,
    port,
    noDelay: true,
    // A connection whose peer has vanished is closed by the kernel some ten seconds later, even if nobody uses it.
    keepAlive: true,
    keepAliveInitialDelay: 1_000,
    lookup: (name, options, callback) =>
      lookup(name, options, (error, result, family) => {
        if (!error) found = addressesOf(result);
        callback(error, result, family);
      }),
  });
  return { socket, addresses: () => found };
};

const valueOptions = {
  charset: 'utf8mb4_0900_ai_ci',
  timezone: 'Z',
  // A date without a time is no instant: it travels as text, `2026-01-15`.
  dateStrings: ['DATE'] as 'DATE'[],
  supportBigNumbers: true,
  bigNumberStrings: false,
  // Renders an object among the values as text, never as `column = value` pairs.
  stringifyObjects: true,
  // The driver joins statements, and refuses a query that holds more than one.
  multipleStatements: true,
  trace: false,
} as const;
