import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Program } from '../../../deploy/local/toolchain.ts';
import { type Cpu, readCpu, readMachineCpu, readWrites, usedBetween } from '../cpu.ts';
import { limitOfLimited, type System, type World } from './world.ts';
import { type Load, runWrk } from './wrk.ts';

/** One run of one system. */
export interface Round {
  readonly load: Load;
  /** CPU time by process, including the load generator. */
  readonly cpu: ReadonlyMap<string, Cpu>;
  /** Writes by process (`readWrites`). */
  readonly writes: ReadonlyMap<string, number>;
  /** Cores used by everything else on the machine. */
  readonly coresElsewhere: number;
  readonly exactness: Exactness | undefined;
}

export type Rounds = Readonly<Record<System['name'], readonly Round[]>>;

export const loadGenerator = 'load generator';

/** Maximum time to read the counters, which must end in the minute in which the load began. */
const readingMs = 8_000;

/**
 * Loads the systems in alternate turns, `rounds` times each, and checks the counters after each turn. The first turn
 * of each is a warm-up and not counted.
 */
export const runRounds = async (world: World, options: RoundsOptions): Promise<Rounds> => {
  const { path, rounds, seconds, connections, checkCounters } = options;
  const { keys, limitedKeys } = world.data;
  const results = { cluster: [] as Round[], monolith: [] as Round[] };
  const systems = [world.cluster, world.monolith];
  const ledgers = new Map(systems.map((system) => [system, openLedger(system, { keys, limitedKeys, path })]));

  const runOne = async (system: System, ledger: Ledger): Promise<Round> => {
    await minuteWithRoom(seconds * 1000 + readingMs);
    const window = windowOf(Date.now());
    const round = await measure(world, () => runWrk({ ...options, url: system.baseUrl + path, firstKey: 0 }));
    if (window !== windowOf(Date.now())) throw new Error('the load ran into the next minute');
    ledger.loaded(round.load.requests, connections);
    return { ...round, exactness: checkCounters ? await ledger.check() : undefined };
  };

  for (let round = 0; round <= rounds; round++) {
    for (const [system, ledger] of ledgers) {
      const result = await runOne(system, ledger);
      if (round > 0) results[system.name].push(result);
      options.say(round, system.name, result);
    }
  }
  await Promise.all([...ledgers.values()].map((ledger) => ledger.close()));
  return results;
};

/** Runs the load generator and measures the CPU time of every process. */
export const measure = async (
  { processes }: Pick<World, 'processes'>,
  run: () => Promise<Load>,
): Promise<Round> => {
  const before = readCpu(processes);
  const writesBefore = readWrites(processes);
  const machineBefore = readMachineCpu();
  const startedMs = performance.now();
  const load = await run();
  const elapsedSeconds = (performance.now() - startedMs) / 1000;
  const machineSeconds = readMachineCpu() - machineBefore;
  const used = usedBetween(before, readCpu(processes));
  const writes = new Map(
    [...readWrites(processes)].map(([name, after]) => [name, after - (writesBefore.get(name) ?? 0)]),
  );
  const cpu = new Map([...used, [loadGenerator, load.cpu]]);
  const ownSeconds = [...cpu.values()].reduce((sum, { total }) => sum + total, 0);
  const coresElsewhere = Math.max(0, (machineSeconds - ownSeconds) / elapsedSeconds);
  return { load, cpu, writes, coresElsewhere, exactness: undefined };
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
  readonly say: (round: number, system: System['name'], result: Round) => void;
}

/** The counters of one system after one run under load. */
interface Exactness {
  readonly counted: number;
  /** Bounds of a correct count: when the load ended, one request per connection may have been in flight. */
  readonly expected: readonly [least: number, most: number];
  /** Total of 200s for the keys with a small limit, and the total that those keys allow. */
  readonly admitted: number;
  readonly allowed: number;
  readonly exact: boolean;
}

/** Tracks the requests sent to a system and compares its counters with them. */
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

const openLedger = (system: System, { keys, limitedKeys, path }: LedgerOptions): Ledger => {
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
