import { setTimeout as sleep } from 'node:timers/promises';

/** One run of a program, from its start to its end. */
export interface Run {
  readonly pid: number;
  /** Where its metrics are once it is ready; null where it has none. */
  readonly ready: Promise<string | null>;
  readonly exited: Promise<string>;
  /** Asks it to end and resolves when it has. */
  stop(): Promise<void>;
}

/** A program that is kept running. */
export interface Kept {
  readonly name: string;
  /** Settles with the first run: when it is ready, or has ended before. */
  readonly ready: Promise<void>;
  pid(): number | null;
  metricsUrl(): string | null;
  /** Ends the present run; the next one starts at once. Resolves when the present one has ended. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface KeepOptions {
  readonly name: string;
  readonly launch: () => Promise<Run>;
  /** Called when the process id or the metrics address has changed. */
  readonly changed: () => void;
  readonly say: (line: string) => void;
  readonly delays?: Delays;
}

/** Pause before a restart: doubles from `firstMs` to `lastMs`, back to `firstMs` after `healthyMs` of running. */
export interface Delays {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly healthyMs: number;
}

const usualDelays: Delays = { firstMs: 100, lastMs: 5_000, healthyMs: 10_000 };

/**
 * Starts a program and starts it again whenever it ends. A first run that ends before it is ready fails
 * `ready` and is the last: what never worked is not tried over and over.
 */
export const keep = ({ name, launch, changed, say, delays = usualDelays }: KeepOptions): Kept => {
  const stopping = new AbortController();
  let restarting = new AbortController();
  let run: Run | undefined;
  let metricsUrl: string | null = null;

  const start = async (): Promise<void> => {
    run = undefined;
    metricsUrl = null;
    run = await launch();
    // A stop or restart that came meanwhile found nothing to stop.
    if (stopping.signal.aborted || restarting.signal.aborted) return run.stop();
    changed();
    metricsUrl = await run.ready;
    changed();
  };

  const live = async (): Promise<void> => {
    let delayMs = delays.firstMs;
    let startedMs = Date.now();
    while (!stopping.signal.aborted) {
      const how = run ? await run.exited : 'could not be started';
      if (stopping.signal.aborted) return;
      if (Date.now() - startedMs >= delays.healthyMs) delayMs = delays.firstMs;
      if (!restarting.signal.aborted) {
        say(`${name} ended (${how}); starting it again in ${delayMs} ms`);
        const signal = AbortSignal.any([stopping.signal, restarting.signal]);
        await sleep(delayMs, undefined, { signal }).catch(() => {});
        if (stopping.signal.aborted) return;
      }
      delayMs = restarting.signal.aborted ? delays.firstMs : Math.min(delayMs * 2, delays.lastMs);
      restarting = new AbortController();
      startedMs = Date.now();
      await start().catch(
        (error: Error) => stopping.signal.aborted || restarting.signal.aborted || say(error.message),
      );
      // Neither ready nor ended: nothing would come of waiting for it.
      if (metricsUrl === null) await readyOrStopped(run);
    }
  };

  const ready = start();
  const life = ready.then(live, () => run?.stop());
  return {
    name,
    ready,
    pid: () => run?.pid ?? null,
    metricsUrl: () => metricsUrl,
    restart: async () => {
      restarting.abort();
      await run?.stop();
    },
    stop: async () => {
      stopping.abort();
      await run?.stop();
      await life;
    },
  };
};

const readyOrStopped = async (run: Run | undefined): Promise<void> => {
  await run?.ready.catch(() => run.stop());
};
