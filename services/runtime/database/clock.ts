/** The database server's clock, as a process reads it without asking each time. */
export interface ServerClock {
  /** This process's own time until the server has been asked. */
  now(): Date;
  /** The server's time less this process's, in milliseconds. */
  offsetMs(): number;
  /** Asks the server. @throws whatever asking throws; then the clock goes on as it went. */
  measure(): Promise<void>;
}

/**
 * Processes of many machines compare times in their rows: leases, due times, ages. They all read one clock, the
 * database's, so that none of their own being wrong makes a lease run out early or a delivery late.
 *
 * Between two measurements time goes on by `elapsedMs`, which nobody sets. An answer says that the server's time
 * lay between the question and it: while what is known fits in there, it is not touched, so a slow answer moves
 * nothing.
 * @param ask the server's time in milliseconds since 1970.
 */
export const createServerClock = ({
  ask,
  elapsedMs = () => performance.now(),
  ownMs = () => Date.now(),
}: ServerClockOptions): ServerClock => {
  /** The server's time at `elapsedMs() = 0`. */
  let originMs: number | undefined;
  const nowMs = (): number => (originMs === undefined ? ownMs() : originMs + elapsedMs());
  return {
    now: () => new Date(nowMs()),
    offsetMs: () => nowMs() - ownMs(),
    measure: async () => {
      const askedMs = elapsedMs();
      const serverMs = await ask();
      const [earliest, latest] = [serverMs - elapsedMs(), serverMs - askedMs];
      if (originMs === undefined) originMs = (earliest + latest) / 2;
      else originMs = Math.min(latest, Math.max(earliest, originMs));
    },
  };
};

export interface ServerClockOptions {
  readonly ask: () => Promise<number>;
  readonly elapsedMs?: () => number;
  readonly ownMs?: () => number;
}
