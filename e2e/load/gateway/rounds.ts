import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Program } from '../../../deploy/local/toolchain.ts';
import { type Cpu, readCpu, readMachineCpu, usedBetween } from '../cpu.ts';
import { limitOfLimited, type World } from './world.ts';
import { type Load, runWrk } from './wrk.ts';

/** One turn of load. */
export interface Round {
  readonly load: Load;
  /** CPU time by process, including the load generator. */
  readonly cpu: ReadonlyMap<string, Cpu>;
  /** Cores used by everything else on the machine. */
  readonly coresElsewhere: number;
  readonly exactness: Exactness | undefined;
}

export const loadGenerator = 'load generator';

/** Maximum time to read the counters, which must end in the minute in which the load began. */
const readingMs = 8_000;

/** Loads the cluster `rounds` times and checks the counters after each turn. The first turn is a warm-up and not counted. */
export const runRounds = async (world: World, options: RoundsOptions): Promise<readonly Round[]> => {
  const { path, rounds, seconds, connections, checkCounters } = options;
  const ledger = openLedger(world, path);
  const results: Round[] = [];
  for (let round = 0; round <= rounds; round++) {
    await minuteWithRoom(seconds * 1000 + readingMs);
    const window = windowOf(Date.now());
    const done = await measure(world, () => runWrk({ ...options, url: world.baseUrl + path, firstKey: 0 }));
    if (window !== windowOf(Date.now())) throw new Error('the load ran into the next minute');
    ledger.loaded(done.load.requests, connections);
    const result = { ...done, exactness: checkCounters ? await ledger.check() : undefined };
    if (round > 0) results.push(result);
    options.say(round, result);
  }
  await ledger.close();
  return results;
};

/** Runs the load generator and measures the CPU time of every process. */
export const measure = async (
  { processes }: Pick<World, 'processes'>,
  run: () => Promise<Load>,
): Promise<Round> => {
  const before = readCpu(processes);
  const machineBefore = readMachineCpu();
  const startedMs = performance.now();
  const load = await run();
  const elapsedSeconds = (performance.now() - startedMs) / 1000;
  const machineSeconds = readMachineCpu() - machineBefore;
  const cpu = new Map([...usedBetween(before, readCpu(processes)), [loadGenerator, load.cpu]]);
  const ownSeconds = [...cpu.values()].reduce((sum, { total }) => sum + total, 0);
  const coresElsewhere = Math.max(0, (machineSeconds - ownSeconds) / elapsedSeconds);
  return { load, cpu, coresElsewhere, exactness: undefined };
};

const minuteWithRoom = async (neededMs: number): Promise<void> => {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < neededMs) await sleep(leftMs + 50);
};

interface RoundsOptions {
  readonly wrk: Program;
  readonly keysFile: string;
  readonly path: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly checkCounters: boolean;
  /** Called after each turn; round 0 is the warm-up. */
  readonly say: (round: number, result: Round) => void;
}

/** The counters after one run under load. */
interface Exactness {
  readonly counted: number;
  /** Bounds of a correct count: when the load ended, one request per connection may have been in flight. */
  readonly expected: readonly [least: number, most: number];
  /** Total of 200s for the keys with a small limit, and the total that those keys allow. */
  readonly admitted: number;
  readonly allowed: number;
  readonly exact: boolean;
}

/** Tracks the requests sent and compares the counters with them. */
interface Ledger {
  /** Records a run of the load generator. */
  loaded(requests: number, connections: number): void;
  /** Reads the count of every key, then sends the limited keys more requests than they allow, in parallel. */
  check(): Promise<Exactness>;
  close(): Promise<void>;
}

const connections = 64;
/** Requests to a limited key, as a multiple of its limit. */
const excess = 3;

const windowOf = (nowMs: number): number => Math.floor(nowMs / 60_000);

const openLedger = ({ baseUrl, data: { keys, limitedKeys } }: World, path: string): Ledger => {
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });
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
        throw new Error(`limited keys were answered with ${[...new Set(statuses)].join(', ')}`);
      if (mine !== windowOf(Date.now())) throw new Error('the minute ended while the counters were read');
      const allowed = limitedKeys.length * limitOfLimited;
      const exact = counted >= expected[0] && counted <= expected[1] && admitted === allowed;
      return { counted, expected, admitted, allowed, exact };
    },
    close: () => pool.close(),
  };
};

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
