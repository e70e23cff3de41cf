import { atTurnEnd, createBatch, type Metrics, noMetrics, randomHex } from '@causeway/runtime';
import {
  type Counts,
  countTakes,
  createCounts,
  mergeTotals,
  type Positions,
  slotCount,
  type Takes,
  toTotals,
} from './counts.ts';
import { encodeTotals } from './log.ts';
import type { LogWriter } from './log-writer.ts';
import type { Quorum } from './quorum.ts';

/** The counts have another owner. The requests were not answered, so they can be sent to it. */
export class MovedError extends Error {
  override readonly name = 'MovedError';
}

/** A take-over needs a majority of the logs. */
export class LogsSilentError extends Error {
  override readonly name = 'LogsSilentError';
}

export interface Owner {
  readonly epoch: string;
  /** Once false, never true again. */
  owned(): boolean;
  /**
   * Counts requests, in order. @returns their positions, once a majority of the logs has stored them.
   * Requests that have waited longer than `withinMs` are not counted.
   * @throws MovedError
   */
  count(window: number, takes: Takes, withinMs: number): Promise<Positions>;
  /**
   * Answers the requests taken, then writes the whole state as the logs' last message, so that another
   * gateway can take over.
   */
  release(): Promise<void>;
  resign(): void;
}

/**
 * After this many messages, the whole state replaces all earlier ones, which limits a take-over's reading. A
 * large state is written less often.
 */
const snapshotEvery = (slots: number): number => Math.max(100, slots / 20);
/** A message of more slots could become too large to be read back as JSON. */
const maxSlotsPerEntry = 100_000;
/**
 * A window is deleted after this long without a request, by this process's clock. Its number does not decide,
 * because the gateways' clocks may differ, by up to a window and this time.
 */
const forgetAfterMs = 120_000;
/** Without a release, the other gateways find no listener and take over. */
const releaseWithinMs = 1000;
/** Several times what waits in half a second. While the logs do not answer, further requests fail at once. */
const maxWaiting = 10_000;

/**
 * There is exactly one owner, without a lease or a clock: the logs refuse a former owner's appends, and an
 * owner answers only what a majority of the logs has stored (`quorum.ts`).
 * @throws MovedError if another process took the counts at the same time; LogsSilentError.
 */
export const claimOwnership = async (
  quorum: Quorum,
  listen: (owner: Owner) => Listener,
  { metrics = noMetrics, elapsedMs = () => performance.now() }: OwnerOptions = {},
): Promise<Owner> => {
  const epoch = randomHex(8);
  const counts = createCounts();
  const countedAtMs = new Map<number, number>();
  const { promise: opened, resolve: endOpening } = Promise.withResolvers<void>();
  let isOpen = false;
  const open = (): void => {
    isOpen = true;
    endOpening();
  };
  let writer: LogWriter | undefined;
  let leaving = false;
  let lost = false;
  let endCommit = (): void => {};
  let underWay: readonly WaitingRequest[] = [];
  let isPaused = false;

  const giveUp = (): void => {
    lost = true;
    open();
    endCommit();
    void listener.close();
    // One of the logs may have stored these requests, so a key may get fewer than its limit.
    for (const { reject } of [...underWay, ...batch.takeBack()]) reject(new MovedError('ownership ended'));
  };

  const forgetOldWindows = (): void => {
    const nowMs = elapsedMs();
    for (const window of counts.keys()) {
      const atMs = countedAtMs.get(window);
      // A window read from the logs counts as used now.
      if (atMs === undefined) countedAtMs.set(window, nowMs);
      else if (nowMs - atMs > forgetAfterMs) {
        counts.delete(window);
        countedAtMs.delete(window);
      }
    }
  };

  const resume = (): void => {
    isPaused = false;
    batch.flush();
  };
  const commit = async (requests: readonly WaitingRequest[]): Promise<void> => {
    if (!isOpen) await opened;
    const nowMs = elapsedMs();
    const inTime = requests.filter((request) => {
      if (lost || request.untilMs < nowMs) request.reject(new MovedError('not counted'));
      return !lost && request.untilMs >= nowMs;
    });
    if (inTime.length === 0) return;
    const changed: Counts = createCounts();
    const positions = inTime.map(({ window, takes }) => {
      countedAtMs.set(window, nowMs);
      return countTakes(counts, changed, window, takes);
    });
    underWay = inTime;
    await new Promise<void>((resolve) => {
      endCommit = resolve;
      writer!.append(encodeTotals(toTotals(changed)), resolve);
    });
    underWay = [];
    // The next append leaves with what else this turn of the loop sends, and takes along the requests that the turn brings: those
    // join at its end, and this after them.
    isPaused = true;
    atTurnEnd(() => atTurnEnd(resume));
    // After `giveUp` has rejected them, this changes nothing.
    for (const [at, request] of inTime.entries()) request.resolve(positions[at]!);
  };
  const batch = createBatch<WaitingRequest>({
    name: 'limit-counts',
    metrics,
    when: atTurnEnd,
    allowed: () => (isPaused && !leaving ? 0 : Number.POSITIVE_INFINITY),
    maxItems: Number.POSITIVE_INFINITY,
    maxWaiting,
    flush: commit,
    onFailed: (requests, error) => {
      for (const { reject } of requests) reject(error);
    },
  });

  const self: Owner = {
    epoch,
    owned: () => !lost,
    count: (window, takes, withinMs) =>
      new Promise((resolve, reject) => {
        if (lost || leaving) return reject(new MovedError('not the owner'));
        const request = { window, takes, untilMs: elapsedMs() + withinMs, resolve, reject };
        if (!batch.add(request)) reject(new LogsSilentError('too many requests wait for the logs'));
      }),
    resign: () => {
      writer?.stop();
      if (!lost) giveUp();
    },
    release: async () => {
      leaving = true;
      await Promise.race([
        batch
          .drain()
          .then(() => (lost ? undefined : new Promise<void>((resolve) => writer?.release(resolve)))),
        new Promise((resolve) => setTimeout(resolve, releaseWithinMs).unref()),
      ]);
      lost = true;
      writer?.stop();
      await listener.close();
    },
  };
  // Other gateways may find the epoch in the logs before this process knows that the logs have stored it.
  const listener = listen(self);
  const result = await new Promise<LogWriter | 'fenced' | undefined>((resolve) =>
    quorum.claim(
      {
        epoch,
        merge: (entries) => {
          for (const { totals } of entries) mergeTotals(counts, totals);
        },
        encodeState: () => {
          forgetOldWindows();
          return encodeState(counts);
        },
        snapshotEvery: () => snapshotEvery(slotCount(counts)),
        onLost: giveUp,
      },
      resolve,
    ),
  );
  if (result === undefined || result === 'fenced') {
    giveUp();
    throw result ? new MovedError('another gateway took over') : new LogsSilentError('too few logs answer');
  }
  writer = result;
  open();
  return self;
};

/** One message may not have room for all slots of a window. */
const encodeState = (counts: Counts): readonly string[] => {
  if (slotCount(counts) <= maxSlotsPerEntry) return [encodeTotals(toTotals(counts))];
  return toTotals(counts).flatMap(([window, ...pairs]) =>
    Array.from({ length: Math.ceil(pairs.length / 2 / maxSlotsPerEntry) }, (_, part) => {
      const from = part * 2 * maxSlotsPerEntry;
      return encodeTotals([[window!, ...pairs.slice(from, from + 2 * maxSlotsPerEntry)]]);
    }),
  );
};

interface OwnerOptions {
  readonly metrics?: Metrics;
  readonly elapsedMs?: () => number;
}

export interface Listener {
  /** Passes on the requests that have arrived. */
  close(): Promise<void>;
}

interface WaitingRequest {
  readonly window: number;
  readonly takes: Takes;
  /** A time of `elapsedMs`. */
  readonly untilMs: number;
  readonly resolve: (positions: Positions) => void;
  readonly reject: (error: unknown) => void;
}
