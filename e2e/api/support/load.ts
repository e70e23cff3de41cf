import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@causeway/runtime/testing/until';
import { Pool } from 'undici';
import { outcome } from './clock.ts';
import { type Ask, type Reply, send, type World } from './open.ts';

/** One request of a load: when it was sent, how long it took, and its result. Times as of `performance.now()`. */
export interface Shot {
  readonly sentMs: number;
  readonly elapsedMs: number;
  /** An Error if the connection ended without an answer. */
  readonly reply: Reply | Error;
}

export interface Load {
  readonly shots: readonly Shot[];
  /** Ends the load once all requests in flight are answered. */
  stop(): Promise<readonly Shot[]>;
}

/** Long enough that the load leaves processor time to what it waits for, such as the restart of a process. */
const pauseMs = 20;

/**
 * Sends requests, `width` at a time, each on a connection of its own that is used again after a short pause.
 * @returns when as many were answered, so that what follows happens under load.
 */
export const startLoad = async (world: World, path: string, ask: Ask, width: number): Promise<Load> => {
  const shots: Shot[] = [];
  const pool = new Pool(world.baseUrl, { connections: width, pipelining: 1 });
  let stopped = false;
  const loop = async (): Promise<void> => {
    while (!stopped) {
      const sentMs = performance.now();
      const reply = await outcome(send(pool, path, ask));
      shots.push({ sentMs, elapsedMs: performance.now() - sentMs, reply });
      await sleep(pauseMs);
    }
  };
  const loops = Array.from({ length: width }, loop);
  await until('the first answers', () => shots.length >= width);
  return {
    shots,
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
      await pool.destroy();
      return shots;
    },
  };
};

/** The result of a shot: its status, with the reason if there is one, or the error of the connection. */
export const endOf = ({ reply }: Shot): string => {
  if (reply instanceof Error) return `error: ${(reply as NodeJS.ErrnoException).code ?? reply.message}`;
  return reply.json?.reason ? `${reply.status} ${reply.json.reason}` : String(reply.status);
};

/** Counts shots by their result. */
export const ends = (shots: readonly Shot[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(shots, endOf)].map(([end, all]) => [end, all.length]));
