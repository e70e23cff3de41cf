import { Pool } from 'undici';
import { limitOfLimited } from './data.ts';
import type { System } from './world.ts';

/** The counters of one system after one run under load. */
export interface Exactness {
  readonly counted: number;
  /** Bounds of a correct count: when the load ended, one request per connection may have been in flight. */
  readonly expected: readonly [least: number, most: number];
  /** Total of 200s for the keys with a small limit, and the total that those keys allow. */
  readonly admitted: number;
  readonly allowed: number;
  readonly exact: boolean;
}

/** Tracks the requests sent to a system and compares its counters with them. */
export interface Ledger {
  /** Records a run of the load generator. */
  loaded(requests: number, connections: number): void;
  /** Reads the count of every key, then sends the limited keys more requests than they allow, in parallel. */
  check(): Promise<Exactness>;
  close(): Promise<void>;
}

const connections = 64;
/** Requests to a limited key, as a multiple of its limit. */
const excess = 3;

export const windowOf = (nowMs: number): number => Math.floor(nowMs / 60_000);

export const openLedger = (system: System, { keys, limitedKeys, path }: LedgerOptions): Ledger => {
  const pool = new Pool(system.baseUrl, { connections, pipelining: 1 });
  let window = 0;
  let least = 0;
  let most = 0;
  let admitted = 0;
  const turn = (): void => {
    if (window === windowOf(Date.now())) return;
    window = windowOf(Date.now());
    least = most = admitted = 0;
  };

  const get = async (key: string): Promise<Counted> => {
    const { statusCode, headers, body } = await pool.request({
      method: 'GET',
      path,
      headers: { 'x-api-key': key },
    });
    await body.dump();
    const limit = Number(headers['x-ratelimit-limit']);
    return { status: statusCode, used: limit - Number(headers['x-ratelimit-remaining']) };
  };

  return {
    loaded: (requests, openConnections) => {
      turn();
      least += requests;
      most += requests + openConnections;
    },
    check: async () => {
      turn();
      const mine = window;
      const answers = await concurrently(keys, get);
      const counted = answers.reduce((sum, { used }) => sum + used, 0);
      const expected = [least + keys.length, most + keys.length] as const;
      least = most = counted;

      const burst = Array.from({ length: limitOfLimited * excess }, () => limitedKeys).flat();
      const statuses = (await concurrently(burst, get)).map(({ status }) => status);
      admitted += statuses.filter((status) => status === 200).length;
      const refused = statuses.filter((status) => status === 429).length;
      if (refused + statuses.filter((status) => status === 200).length !== burst.length)
        throw new Error(`${system.name} answered limited keys with ${[...new Set(statuses)].join(', ')}`);
      if (mine !== windowOf(Date.now())) throw new Error('the minute ended while the counters were read');
      const allowed = limitedKeys.length * limitOfLimited;
      const exact = counted >= expected[0] && counted <= expected[1] && admitted === allowed;
      return { counted, expected, admitted, allowed, exact };
    },
    close: () => pool.close(),
  };
};

interface LedgerOptions {
  readonly keys: readonly string[];
  readonly limitedKeys: readonly string[];
  readonly path: string;
}

interface Counted {
  readonly status: number;
  readonly used: number;
}

const concurrently = async <Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results.push(await work(items[at]!));
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return results;
};
