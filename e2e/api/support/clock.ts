const minuteMs = 60_000;

const minutesMost = 4;

/**
 * Wraps a test whose work must lie within one UTC minute, to which counters are aligned. If a minute ends during the
 * work, the work runs again. Each run creates its own keys, so that counts of two minutes do not mix.
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
      if (runs === minutesMost)
        throw new Error(`none of ${runs} runs fitted into a minute`, { cause: result });
    }
  };
  // Vitest rejects a hook with rest parameters.
  return work.length === 0 ? () => run([] as unknown[] as Given) : (...given) => run(given);
};

const minuteNow = (): number => Math.floor(Date.now() / minuteMs);

/** The value of a promise, or the error it was rejected with. */
export const outcome = <Value>(work: Promise<Value>): Promise<Value | Error> =>
  work.catch((error: Error) => error);
