import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for a value, also where no test runs: repeats `check` until it returns something truthy. Assertions wait by `expect.poll`.
 * @throws after the timeout, which suits a machine four times slower.
 */
export const until = async <Result>(
  what: string,
  check: () => Promise<Result> | Result,
  { timeoutMs = 60_000, everyMs = 50 } = {},
): Promise<NonNullable<Result>> => {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const result = await check();
    if (result) return result as NonNullable<Result>;
    if (performance.now() > endMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(everyMs);
  }
};
