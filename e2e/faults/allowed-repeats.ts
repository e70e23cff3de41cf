import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '../api/support/open.ts';
import { processesOf } from '../api/support/processes.ts';

/**
 * How many deliveries may have arrived twice since a time: those whose attempt failed, because its answer came too late,
 * and those whose lease ended before the attempt was recorded. Both happen without a fault on a busy machine.
 */
export const allowedRepeats = async (world: World, sinceMs: number): Promise<number> => {
  const [row] = await world.sql<{ failed: number }>(
    'SELECT COUNT(*) AS failed FROM delivery_attempts WHERE error_class IS NOT NULL AND started_utc >= ?',
    [new Date(sinceMs)],
  );
  return Number(row?.failed) + (await endedLeases(world, sinceMs));
};

/**
 * Leases of events and deliveries that ended while they were open, as the dispatchers log it: `leases freed` of a dispatcher
 * that gave no sign of life, `events swept` of one that was late.
 */
export const endedLeases = async (
  world: World,
  sinceMs: number,
  messages: readonly string[] = ['leases freed', 'events swept'],
): Promise<number> => {
  const counts = processesOf(world, 'dispatcher').map(async ({ name }) => {
    const log = await readFile(join(world.home, 'logs', `${name}.log`), 'utf8');
    return log
      .split('\n')
      .filter((line) => messages.some((message) => line.includes(`"${message}"`)))
      .map((line): Line => JSON.parse(line))
      .filter(({ time }) => Date.parse(time) >= sinceMs)
      .reduce((sum, { events = 0, deliveries = 0 }) => sum + events + deliveries, 0);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
};

interface Line {
  readonly time: string;
  readonly events?: number;
  readonly deliveries?: number;
}
