import { outcome } from './clock.ts';
import type { Ask, Reply, World } from './open.ts';

/** One request of a load: when it was sent, when it was over, and how. Times as of `performance.now()`. */
export interface Shot {
  readonly sentMs: number;
  readonly elapsedMs: number;
  /** An Error where the connection ended without an answer. */
  readonly reply: Reply | Error;
}

export interface Load {
  readonly shots: readonly Shot[];
  /** Ends the load when what is in flight is answered. */
  stop(): Promise<readonly Shot[]>;
}

/** Sends requests without a pause, `width` at a time. */
export const startLoad = (world: World, path: string, ask: Ask, width: number): Load => {
  const shots: Shot[] = [];
  let stopped = false;
  const loop = async (): Promise<void> => {
    while (!stopped) {
      const sentMs = performance.now();
      const reply = await outcome(world.ask(path, ask));
      shots.push({ sentMs, elapsedMs: performance.now() - sentMs, reply });
      // A refused connection fails at once; trying again without a pause would only take the processor.
      if (reply instanceof Error) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const loops = Array.from({ length: width }, loop);
  return {
    shots,
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
      return shots;
    },
  };
};

/** How a shot ended: its status, and the reason where it gave one; or the connection's error. */
export const endOf = ({ reply }: Shot): string => {
  if (reply instanceof Error) return `error: ${(reply as NodeJS.ErrnoException).code ?? reply.message}`;
  return reply.json?.reason ? `${reply.status} ${reply.json.reason}` : String(reply.status);
};

/** How many shots ended how. */
export const ends = (shots: readonly Shot[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(shots, endOf)].map(([end, all]) => [end, all.length]));
