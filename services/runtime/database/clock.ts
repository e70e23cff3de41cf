interface ServerClock {
  /** This process's own time before the first `ask`. */
  now(): Date;
  offsetMs(): number;
  silentMs(): number;
  /** @throws what `ask` throws; the clock then keeps running unchanged. */
  measure(): Promise<void>;
}

/**
 * All processes use the database's clock to compare times in rows (leases, due times, ages).
 * It advances by the monotonic `elapsedMs`. A measurement changes it only if it is outside the interval
 * between question and answer, so a slow answer does not move it.
 * @param ask reads the server's time in milliseconds since 1970.
 */
export const createServerClock = ({
  ask,
  elapsedMs = () => performance.now(),
  ownMs = () => Date.now(),
}: ServerClockOptions): ServerClock => {
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

interface AwakeClock {
  now(): number;
  tick(): void;
}

/** Counts time only while ticks arrive: a frozen or busy process has unread answers waiting. */
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
