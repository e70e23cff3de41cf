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

/** Sends requests continuously, `width` at a time, each on a connection that is in use all the time. */
export const startLoad = (world: World, path: string, ask: Ask, width: number): Load => {
  const shots: Shot[] = [];
  const pool = new Pool(world.baseUrl, { connections: width, pipelining: 1 });
  let stopped = false;
  const loop = async (): Promise<void> => {
    while (!stopped) {
      const sentMs = performance.now();
      const reply = await outcome(send(pool, path, ask));
      shots.push({ sentMs, elapsedMs: performance.now() - sentMs, reply });
      // A refused connection fails at once; retrying without a pause would only use CPU time.
      if (reply instanceof Error) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const loops = Array.from({ length: width }, loop);
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
