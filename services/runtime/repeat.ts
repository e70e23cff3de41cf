import { setTimeout as sleep } from 'node:timers/promises';

/** Something that is done again and again until it is stopped. */
export interface Repeated {
  /** Resolves when the pass at work has ended. */
  stop(): Promise<void>;
}

/**
 * Does passes of `work`, with a pause after each that found nothing to do (0) or failed. The pause varies by a
 * quarter, so that replicas do not keep step.
 * @param onError called with the first of any failures in a row.
 */
export const repeat = (
  work: () => Promise<number>,
  { pauseMs, onError }: { readonly pauseMs: number; readonly onError: (error: unknown) => void },
): Repeated => {
  const stopping = new AbortController();
  let failing = false;
  const running = (async () => {
    while (!stopping.signal.aborted) {
      let done = 0;
      try {
        done = await work();
        failing = false;
      } catch (error) {
        if (!failing) onError(error);
        failing = true;
      }
      if (done > 0) continue;
      const variedMs = pauseMs * (0.75 + Math.random() / 2);
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
