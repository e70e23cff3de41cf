import { setTimeout as sleep } from 'node:timers/promises';

const minuteMs = 60_000;

/** Returns with at least `needMs` left of the UTC minute that counters are aligned to. */
export const roomInMinute = async (needMs: number): Promise<void> => {
  const leftMs = minuteMs - (Date.now() % minuteMs);
  // A little more than the rest: a gateway's clock is this machine's, but it reads it a moment later.
  if (leftMs < needMs) await sleep(leftMs + 20);
};

const minutesMost = 4;

/**
 * A test whose work has to lie within one UTC minute, to which counters are aligned. Work that a minute's end divided
 * runs again and makes its own keys, so what it found in two minutes does not count.
 */
export const inOneMinute = <Given extends unknown[]>(
  work: (...given: Given) => Promise<void>,
): ((...given: Given) => Promise<void>) => {
  const run = async (given: Given): Promise<void> => {
    for (let runs = 1; ; runs++) {
      const minute = minuteNow();
      const result = await outcome(work(...given));
      if (minute === minuteNow()) {
        if (result instanceof Error) throw result;
        return;
      }
      if (runs === minutesMost) throw new Error(`no run of ${runs} fitted into a minute`, { cause: result });
    }
  };
  // Vitest refuses a hook with rest parameters.
  return work.length === 0 ? () => run([] as unknown[] as Given) : (...given) => run(given);
};

const minuteNow = (): number => Math.floor(Date.now() / minuteMs);

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
