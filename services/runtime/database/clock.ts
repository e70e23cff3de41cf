/** The database server's clock, read without a query each time. */
interface ServerClock {
  /** The server's time; this process's own time before the first `ask`. */
  now(): Date;
  /** The server's time minus this process's, in milliseconds. */
  offsetMs(): number;
  /** Time since the last measurement; since the clock was created before the first. */
  silentMs(): number;
  /** Reads the server's clock. @throws whatever `ask` throws; the clock then keeps running unchanged. */
  measure(): Promise<void>;
}

/**
 * Processes on several machines compare times in rows: leases, due times, ages. All use the database's clock, so that
 * a machine with a wrong clock ends no lease early and delays no delivery.
 *
 * Between two measurements the clock advances by the monotonic `elapsedMs`. An answer proves that the server's time
 * lay between the question and the answer. The clock changes only if it is outside that interval, so a slow answer
 * does not move it.
 * @param ask reads the server's time in milliseconds since 1970.
 */
export const createServerClock = ({
  ask,
  elapsedMs = () => performance.now(),
  ownMs = () => Date.now(),
}: ServerClockOptions): ServerClock => {
  /** The server's time at `elapsedMs() = 0`. */
  let originMs: number | undefined;
  let measuredMs = elapsedMs();
  const nowMs = (): number => (originMs === undefined ? ownMs() : originMs + elapsedMs());
  return {
    now: () => new Date(nowMs()),
    offsetMs: () => nowMs() - ownMs(),
    silentMs: () => elapsedMs() - measuredMs,
    measure: async () => {
      const askedMs = elapsedMs();
      const serverMs = await ask();
      measuredMs = elapsedMs();
      const [earliest, latest] = [serverMs - measuredMs, serverMs - askedMs];
      if (originMs === undefined) originMs = (earliest + latest) / 2;
      else originMs = Math.min(latest, Math.max(earliest, originMs));
    },
  };
};

interface ServerClockOptions {
  readonly ask: () => Promise<number>;
  readonly elapsedMs?: () => number;
  readonly ownMs?: () => number;
}

/** Counts the milliseconds in which this process could have read an answer. */
interface AwakeClock {
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
