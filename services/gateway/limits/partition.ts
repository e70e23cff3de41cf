import { createBatch, type Metrics, noMetrics, randomHex } from '@causeway/runtime';
import { countTakes, createCounts, type Positions, slotCount, type Takes, toDeltas } from './counts.ts';
import { FencedError, type LimitLog } from './log.ts';

/** The partition has another owner: what was to be counted was not, and can be sent there. */
export class MovedError extends Error {
  override readonly name = 'MovedError';
}

/** A partition as its owner sees it. */
export interface Partition {
  readonly epoch: string;
  /** False once the partition is known to be lost; it never becomes true again. */
  owned(): boolean;
  /**
   * Counts requests, in order. @returns their positions, once they are in the log.
   * @throws MovedError if nothing was counted; anything else: unknown.
   */
  count(window: number, takes: Takes): Promise<Positions>;
  /**
   * Takes nothing more, and hands the partition on when what was taken has been answered: the whole state is then
   * the log's last message, and whoever asks finds the partition free.
   */
  release(): Promise<void>;
}

/** Epochs of owners that understand `CountRequest`; those of the release before had no prefix. */
const epochPrefix = 'b';
const newEpoch = (): string => epochPrefix + randomHex(8);
export const understandsTakes = (epoch: string): boolean =>
  epoch.startsWith(epochPrefix) && epoch.length === 17;

/**
 * After so many messages one carries the whole state and replaces all before it, which bounds a replay. A
 * large state is written less often, so that snapshots stay a small part of what is written.
 */
const snapshotDue = (messages: number, slots: number): boolean =>
  messages >= Math.max(1000, slots / 20) && slots <= maxSnapshotSlots;
/** A snapshot of more slots would be too large a message; the log's age then bounds the replay. */
const maxSnapshotSlots = 100_000;
/**
 * A window is forgotten when nobody has counted in it for so long, by this process's measure. Which window it is
 * says nothing of that: the gateways' clocks may differ, by up to a window and this.
 */
const forgetAfterMs = 120_000;

/**
 * Takes the partition over: reads its log, then writes under a new epoch at its end. Exactly one process
 * can append after any message, so there is exactly one owner, with no lease and no clock: an owner that
 * was overtaken learns it from its next append, which is refused, and it answers only what was appended.
 * @throws FencedError if another process took it at the same time.
 */
export const claimPartition = async (
  log: LimitLog,
  partition: number,
  listen: (partition: Partition) => Listener,
  { metrics = noMetrics, elapsedMs = () => performance.now() }: PartitionOptions = {},
): Promise<Partition> => {
  const { tail, counts: replayed } = await log.replay(partition);
  const epoch = newEpoch();
  let counts = replayed;
  const countedAtMs = new Map<number, number>();
  let sequence = tail.sequence;
  let leaving = false;
  let sinceSnapshot = 0;
  let lost = false;

  const giveUp = (error: unknown, requests: readonly Waiting[]): void => {
    lost = true;
    counts = createCounts();
    void listener.close();
    for (const { reject } of requests) reject(error);
    // Those that waited behind the failed append were not counted.
    for (const { reject } of batch.takeBack()) reject(new MovedError('ownership ended'));
  };

  const forgetOldWindows = (): void => {
    const nowMs = elapsedMs();
    for (const window of counts.keys()) {
      const atMs = countedAtMs.get(window);
      // It was read from the log: from now on it is known when it was needed.
      if (atMs === undefined) countedAtMs.set(window, nowMs);
      else if (nowMs - atMs > forgetAfterMs) {
        counts.delete(window);
        countedAtMs.delete(window);
      }
    }
  };

  /** Appends the counts of a batch as one message. */
  const commit = async (requests: readonly Waiting[]): Promise<void> => {
    const increments = createCounts();
    const nowMs = elapsedMs();
    const positions = requests.map(({ window, takes }) => {
      countedAtMs.set(window, nowMs);
      return countTakes(counts, increments, window, takes);
    });
    const snapshot = snapshotDue(++sinceSnapshot, slotCount(counts));
    if (snapshot) {
      forgetOldWindows();
      sinceSnapshot = 0;
    }
    try {
      sequence = await log.append(
        partition,
        snapshot
          ? { epoch, counts: toDeltas(counts), snapshot: true }
          : { epoch, counts: toDeltas(increments) },
        sequence,
      );
    } catch (error) {
      return giveUp(
        error instanceof FencedError ? new MovedError('fenced', { cause: error }) : error,
        requests,
      );
    }
    for (const [at, request] of requests.entries()) request.resolve(positions[at]!);
  };
  const batch = createBatch<Waiting>({
    name: 'limit-counts',
    metrics,
    when: setImmediate,
    maxItems: Number.POSITIVE_INFINITY,
    flush: commit,
  });

  const self: Partition = {
    epoch,
    owned: () => !lost,
    count: (window, takes) =>
      new Promise((resolve, reject) => {
        if (lost || leaving) return reject(new MovedError('not the owner'));
        batch.add({ window, takes, resolve, reject });
      }),
    release: async () => {
      leaving = true;
      await batch.drain();
      if (!lost) {
        const whole = slotCount(counts) <= maxSnapshotSlots;
        const last = whole ? { counts: toDeltas(counts), snapshot: true as const } : { counts: {} };
        // Where it cannot be written, the others find that nobody listens any more, and read the log.
        await log.append(partition, { epoch, ...last, released: true }, sequence).catch(() => {});
      }
      lost = true;
      await listener.close();
    },
  };
  // Nobody knows the epoch before it is in the log, so listening first loses no request.
  const listener = listen(self);
  try {
    sequence = await log.append(partition, { epoch, counts: {} }, sequence);
  } catch (error) {
    lost = true;
    void listener.close();
    throw error;
  }
  return self;
};

export interface PartitionOptions {
  readonly metrics?: Metrics;
  readonly elapsedMs?: () => number;
}

/** Takes the other gateways' requests to a partition. */
export interface Listener {
  /** Takes no new requests and hands on those that have arrived. */
  close(): Promise<void>;
}

interface Waiting {
  readonly window: number;
  readonly takes: Takes;
  readonly resolve: (positions: Positions) => void;
  readonly reject: (error: unknown) => void;
}
