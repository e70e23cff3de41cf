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
