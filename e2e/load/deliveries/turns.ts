import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Cpu, readCpu, usedBetween } from '../cpu.ts';
import { makeEvents } from './events.ts';
import type { DeliveryWorld, Tenant } from './world.ts';

/** One turn: the arrivals, and the CPU time of each process. */
export interface Turn {
  readonly perSecond: number;
  readonly delivered: number;
  readonly cpu: ReadonlyMap<string, Cpu>;
}

/** Maximum events in flight: enough to fill every batch, few enough that they do not only wait. */
const onTheirWay = 2_000;
/** Time to fill batches before counting begins. */
const warmMs = 1_500;

/**
 * Creates events in MySQL for `seconds`, each delivered to `copies` subscriptions. Afterwards every delivery has
 * arrived exactly once and is recorded. @throws otherwise.
 */
export const deliverTurn = async (
  world: DeliveryWorld,
  { tenants, copies, seconds }: { tenants: readonly Tenant[]; copies: number; seconds: number },
): Promise<Turn> => {
  await world.reset();
  const recordedBefore = await world.number(recorded);
  let arrived = 0;
  const watching = setInterval(async () => {
    arrived = (await world.count(true)).deliveries;
  }, 50);
  const events = makeEvents(world.bus, tenants, {
    width: 64,
    mayGoOn: (made) => made * copies - arrived < onTheirWay,
  });
  await sleep(warmMs);
  const processes = new Map([...world.processes, ['event source', process.pid]]);
  const before = readCpu(processes);
  const first = (await world.count(true)).deliveries;
  const startedMs = performance.now();
  await sleep(seconds * 1000);
  const delivered = (await world.count(true)).deliveries - first;
  const elapsedSeconds = (performance.now() - startedMs) / 1000;
  const cpu = usedBetween(before, readCpu(processes));
  const made = await events.stop();
  clearInterval(watching);
  await world.settle();
  const all = await world.count(true);
  if (all.deliveries !== made * copies || all.distinct !== made * copies)
    throw new Error(
      `${made} events created, ${all.deliveries} deliveries arrived, ${all.distinct} of them distinct`,
    );
  const kept = (await world.number(recorded)) - recordedBefore;
  if (kept !== made * copies)
    throw new Error(`${made * copies} deliveries were made, ${kept} attempts are recorded`);
  return { perSecond: delivered / elapsedSeconds, delivered, cpu };
};

const recorded = 'SELECT COUNT(*) AS n FROM delivery_attempts';

/** Posts the same request with undici alone, in a process of its own. */
export const postTurn = async (
  world: DeliveryWorld,
  { concurrency, seconds }: { concurrency: number; seconds: number },
): Promise<Turn> => {
  const { sample } = await world.count(true);
  if (!sample) throw new Error('there is no delivery to post again');
  const before = readCpu(world.processes);
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, 'post.ts'),
    `${world.receiverUrl}/counted/alone`,
    `${concurrency}`,
    `${seconds}`,
    JSON.stringify(sample),
  ]);
  const cpu = usedBetween(before, readCpu(world.processes));
  const { requests, seconds: elapsed } = JSON.parse(stdout) as { requests: number; seconds: number };
  return { perSecond: requests / elapsed, delivered: requests, cpu };
};
