import { randomUUID } from 'node:crypto';
import { detailCodes, type Scope, scopes } from '@causeway/proto';
import { createPool, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { type Dispatcher, Pool } from 'undici';
import { type Operator, openOperator } from '../../../deploy/local/demo.ts';
import { readStack, type Stack } from '../../../deploy/local/home.ts';

/** An answer, read to its end. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: Json;
}

// biome-ignore lint/suspicious/noExplicitAny: what a body holds is what the tests are about.
export type Json = any;

export interface Ask {
  readonly method?: string;
  /** The API key to send, if any. */
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text or bytes as they are; anything else as JSON. */
  readonly body?: unknown;
}

export interface Key {
  readonly id: number;
  readonly value: string;
}

export interface Company {
  readonly id: number;
  /** Creates a key with these scopes, by default all five. */
  key(only?: readonly Scope[]): Promise<Key>;
}

/** The running cluster, as users and the operator reach it. */
export interface World {
  readonly baseUrl: string;
  readonly home: string;
  readonly operator: Operator;
  /** The current state: processes come and go. */
  stack(): Stack;
  /** Creates a company for this test; its counters start at zero. */
  company(limits?: { read?: number; write?: number; admin?: number }): Promise<Company>;
  /** @param path below `/api/v1`, or the whole path after a leading `//`. */
  ask(path: string, ask?: Ask): Promise<Reply>;
  /** Runs SQL as the owner of the database. Returns rows, or the result of a change. */
  sql<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  insert(table: string, row: Readonly<Record<string, unknown>>): Promise<number>;
}

/** Many more connections than gateways, so that the kernel spreads them over every gateway. */
const connections = 48;

/** Opens the cluster that runs in a home folder. The caller must close it. */
export const openWorldAt = async (
  home: string,
): Promise<{ readonly world: World; readonly close: () => Promise<void> }> => {
  const stack = (): Stack => {
    const read = readStack(home);
    if (!read) throw new Error(`no cluster runs in ${home}`);
    return read;
  };
  const { baseUrl, natsUrl, mysqlUrl } = stack();
  const operator = await openOperator(natsUrl);
  // A gateway that stops waits for idle connections, unless their clients close them.
  const pool = new Pool(baseUrl, { connections, pipelining: 1, keepAliveMaxTimeout: 1_000 });
  const database = createPool({ uri: mysqlUrl, connectionLimit: 2, supportBigNumbers: true, timezone: 'Z' });
  const close = async (): Promise<void> => {
    await Promise.all([operator.close(), pool.destroy(), database.end()]);
  };

  const run = async (text: string, values: readonly unknown[]) =>
    (await database.query<RowDataPacket[] | ResultSetHeader>(text, [...values]))[0];

  const world: World = {
    baseUrl,
    home,
    operator,
    stack,
    company: async (limits) => {
      const { company_id } = await operator.ask('createCompany', { name: `Test ${randomUUID()}` });
      if (limits) await operator.ask('setLimits', { company_id, ...limits });
      return {
        id: company_id,
        key: async (only = scopes) => {
          const { id, value } = await operator.ask('createKey', {
            company_id,
            name: 'test',
            scopes: [...only],
          });
          return { id, value };
        },
      };
    },
    ask: (path, ask) => send(pool, path, ask),
    sql: async (text, values = []) => (await run(text, values)) as never,
    insert: async (table, row) =>
      ((await run('INSERT INTO ?? SET ?', [table, row])) as ResultSetHeader).insertId,
  };
  return { world, close };
};

/** One request over an undici dispatcher: a pool, or a client that is one connection. */
export const send = async (over: Dispatcher, path: string, ask: Ask = {}): Promise<Reply> => {
  const { statusCode, headers, body } = await over.request({
    method: (ask.method ?? 'GET') as Dispatcher.HttpMethod,
    path: path.startsWith('//') ? path.slice(1) : `/api/v1${path}`,
    headers: { ...(ask.key !== undefined && { 'x-api-key': ask.key }), ...ask.headers },
    ...(ask.body !== undefined && { body: sentAs(ask.body) }),
  });
  const text = await body.text();
  const json = jsonOf(text);
  for (const { code } of (statusCode === 400 && json?.details) || [])
    if (!Object.hasOwn(detailCodes, code)) throw new Error(`a detail without a code: ${text}`);
  return { status: statusCode, headers, text, json };
};

const sentAs = (body: unknown): string => {
  const isSentAsItIs =
    typeof body === 'string' || body instanceof Uint8Array || Symbol.asyncIterator in Object(body);
  return isSentAsItIs ? (body as string) : JSON.stringify(body);
};

const jsonOf = (text: string): Json => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
