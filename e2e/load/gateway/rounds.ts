import { setTimeout as sleep } from 'node:timers/promises';
import type { Program } from '../../../deploy/local/toolchain.ts';
import { type Cpu, readCpu, readMachineCpu, usedBetween } from '../cpu.ts';
import { readTraffic, type Traffic } from './batching.ts';
import { type Exactness, type Ledger, openLedger, windowOf } from './exactness.ts';
import type { System, World } from './world.ts';
import { type Load, runWrk } from './wrk.ts';

/** One run of one system. */
export interface Round {
  readonly load: Load;
  /** CPU time by process, including the load generator. */
  readonly cpu: ReadonlyMap<string, Cpu>;
  /** Cores used by everything else on the machine. */
  readonly coresElsewhere: number;
  readonly exactness: Exactness | undefined;
  /** The message counts of the cluster before and after. */
  readonly traffic: readonly [Traffic, Traffic];
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
export const measure = async (world: World, run: () => Promise<Load>): Promise<Round> => {
  const trafficBefore = await readTraffic(world.traffic);
  const before = readCpu(world.processes);
  const machineBefore = readMachineCpu();
  const startedMs = performance.now();
  const load = await run();
  const elapsedSeconds = (performance.now() - startedMs) / 1000;
  const machineSeconds = readMachineCpu() - machineBefore;
  const used = usedBetween(before, readCpu(world.processes));
  const traffic = [trafficBefore, await readTraffic(world.traffic)] as const;
  const cpu = new Map([...used, [loadGenerator, load.cpu]]);
  const ownSeconds = [...cpu.values()].reduce((sum, { total }) => sum + total, 0);
  const coresElsewhere = Math.max(0, (machineSeconds - ownSeconds) / elapsedSeconds);
  return { load, cpu, coresElsewhere, exactness: undefined, traffic };
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
