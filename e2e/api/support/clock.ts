import { setTimeout as sleep } from 'node:timers/promises';

const minuteMs = 60_000;

/** Returns with at least `needMs` left of the UTC minute that counters are aligned to. */
export const roomInMinute = async (needMs: number): Promise<void> => {
  const leftMs = minuteMs - (Date.now() % minuteMs);
  // A little more than the rest: a gateway's clock is this machine's, but it reads it a moment later.
  if (leftMs < needMs) await sleep(leftMs + 20);
};

/** Polls until `check` answers something true. @throws when it never does. */
export const until = async <Result>(
  what: string,
  check: () => Promise<Result> | Result,
  { timeoutMs = 20_000, everyMs = 50 } = {},
): Promise<NonNullable<Result>> => {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const result = await check();
    if (result) return result as NonNullable<Result>;
    if (performance.now() > endMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(everyMs);
  }
};

/** A promise's outcome, or what it threw. */
export const outcome = <Value>(work: Promise<Value>): Promise<Value | Error> =>
  work.catch((error: Error) => error);
