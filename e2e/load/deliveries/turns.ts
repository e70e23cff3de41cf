import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Cpu, readCpu, usedBetween } from '../cpu.ts';
import { makeEvents } from './events.ts';
import type { DeliveryWorld, Tenant } from './world.ts';

/** One turn of either: what arrived in it, and who spent CPU time on it. */
export interface Turn {
  readonly perSecond: number;
  readonly delivered: number;
  readonly cpu: ReadonlyMap<string, Cpu>;
}

/** Events that may be on their way at once: enough to keep every batch full, not so many that they only wait. */
const onTheirWay = 2_000;
/** Time for batches and windows to fill before the counting begins. */
const warmMs = 1_500;

/**
 * Events made in MySQL, each delivered to `copies` subscriptions, for so many seconds. After the turn every one
 * has arrived, once, and is recorded. @throws where not.
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
      `${made} events made, ${all.deliveries} deliveries arrived, ${all.distinct} of them different`,
    );
  const kept = (await world.number(recorded)) - recordedBefore;
  if (kept !== made * copies)
    throw new Error(`${made * copies} deliveries were made, ${kept} attempts are kept`);
  return { perSecond: delivered / elapsedSeconds, delivered, cpu };
};

const recorded = 'SELECT COUNT(*) AS n FROM delivery_attempts';

/** The same request, posted by undici alone, in a process of its own. */
export const postTurn = async (
  world: DeliveryWorld,
  { concurrency, seconds }: { concurrency: number; seconds: number },
): Promise<Turn> => {
  const { sample } = await world.count(true);
  if (!sample) throw new Error('nothing has been delivered that could be posted again');
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
