import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '../api/support/open.ts';
import { processesOf } from '../api/support/processes.ts';

/**
 * How many leases of events and deliveries have ended since a time before what held them was recorded, as the
 * dispatchers log it. Only these can be delivered twice: a dispatcher that dies, or that a busy machine starves, does not
 * record in time what it has sent.
 */
export const endedLeases = async (world: World, sinceMs: number): Promise<number> => {
  const counts = processesOf(world, 'dispatcher').map(async ({ name }) => {
    const log = await readFile(join(world.home, 'logs', `${name}.log`), 'utf8');
    return log
      .split('\n')
      .filter((line) => line.includes('"events swept"') || line.includes('"leases freed"'))
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
