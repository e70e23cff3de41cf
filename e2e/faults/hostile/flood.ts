import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Assault } from './attack.ts';

/** Attacks until the signal is aborted, and counts its requests. */
export type Flood = (signal: AbortSignal, count: (what: string) => void) => Promise<void>;

export type Command = 'start' | 'stop';

/** Starts an attacker process for this flood. @param target the argument of the flood. */
export const openAttacker = async (flood: string, target: unknown): Promise<Assault> => {
  const child = fork(join(import.meta.dirname, 'attacker.ts'), [flood, JSON.stringify(target)], {
    // A session of its own, so that it has a priority of its own.
    detached: true,
  });
  const answer = async (): Promise<unknown> => {
    const [message] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`the attacker ended with ${code}`);
      }),
    ]);
    return message;
  };
  await answer();
  let counts: Readonly<Record<string, number>> = {};
  return {
    start: async () => void child.send('start' satisfies Command),
    stop: async () => {
      child.send('stop' satisfies Command);
      counts = (await answer()) as typeof counts;
    },
    summary: () =>
      Object.entries(counts)
        .map(([what, count]) => `${count} ${what}`)
        .join(', '),
    close: async () => {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
};

/**
 * Runs `step` repeatedly until the signal is aborted, with `width` parallel loops and at most `perSecond` runs per
 * second in total.
 */
export const runParallel = async (
  signal: AbortSignal,
  { width, perSecond }: { readonly width: number; readonly perSecond: number },
  step: (worker: number) => Promise<void>,
): Promise<void> => {
  const everyMs = (1000 * width) / perSecond;
  const loop = async (worker: number): Promise<void> => {
    // Spreads the loops over time.
    for (let nextMs = performance.now() + (everyMs * worker) / width; !signal.aborted; nextMs += everyMs) {
      const waitMs = nextMs - performance.now();
      if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => {});
      else nextMs -= waitMs;
      if (!signal.aborted) await step(worker);
    }
  };
  await Promise.all(Array.from({ length: width }, (_, worker) => loop(worker)));
};
