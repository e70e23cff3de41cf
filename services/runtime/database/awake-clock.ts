/** Counts the milliseconds in which this process could have read an answer. */
export interface AwakeClock {
  now(): number;
  /** Call it every `tickMs`. */
  tick(): void;
}

/**
 * A process that was frozen, or whose event loop was busy, has answers waiting that it has not read yet. So time counts
 * only while ticks arrive: each adds at most twice its interval. By this clock a server is never slower than it is.
 */
export const createAwakeClock = (tickMs: number, elapsedMs = () => performance.now()): AwakeClock => {
  let awakeMs = 0;
  let lastMs = elapsedMs();
  return {
    now: () => awakeMs,
    tick: () => {
      const ms = elapsedMs();
      awakeMs += Math.min(ms - lastMs, 2 * tickMs);
      lastMs = ms;
    },
  };
};
