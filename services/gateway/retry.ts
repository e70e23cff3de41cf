import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Retries `work` with a pause after each failure: a NATS cluster may elect its leaders while a gateway starts.
 * @throws the last error after `withinMs`.
 */
export const retry = async <Result>(
  work: () => Promise<Result>,
  { withinMs, pauseMs = 250, onError }: RetryOptions,
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

export interface RetryOptions {
  readonly withinMs: number;
  readonly pauseMs?: number;
  readonly onError: (error: unknown) => void;
}
