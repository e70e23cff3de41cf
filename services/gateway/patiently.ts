import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Does `work`, again and again with a pause while it fails: for what a start needs of a server that may be choosing
 * its leaders just then. @throws what it threw last, when `withinMs` are over.
 */
export const patiently = async <Result>(
  work: () => Promise<Result>,
  { withinMs, pauseMs = 250, onError }: PatienceOptions,
): Promise<Result> => {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() + pauseMs > deadlineMs) throw error;
      onError(error);
    }
    await sleep(pauseMs);
  }
};

export interface PatienceOptions {
  readonly withinMs: number;
  readonly pauseMs?: number;
  readonly onError: (error: unknown) => void;
}
