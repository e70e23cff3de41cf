import { createBatch, type Metrics, noMetrics, randomHex } from '@causeway/runtime';
import { countTakes, createCounts, type Positions, slotCount, type Takes, toDeltas } from './counts.ts';
import { FencedError, type LimitLog } from './log.ts';

/** The partition has another owner. Nothing was counted, and the requests can be sent there. */
export class MovedError extends Error {
  override readonly name = 'MovedError';
}

/** A partition that this process owns. */
export interface Partition {
  readonly epoch: string;
  /** False once this process knows that it lost the partition; never true again. */
  owned(): boolean;
  /**
   * Counts requests, in order. @returns their positions, once the log has stored them.
   * @throws MovedError if nothing was counted; any other error: unknown.
   */
  count(window: number, takes: Takes): Promise<Positions>;
  /**
   * Takes no more requests, answers those taken, then releases the partition: it writes the whole state as the log's
   * last message, so that another gateway can take the partition over.
   */
  release(): Promise<void>;
}

/** The epoch prefix of owners that understand `CountRequest`; those of the previous release had none. */
const epochPrefix = 'b';
const newEpoch = (): string => epochPrefix + randomHex(8);
export const understandsTakes = (epoch: string): boolean =>
  epoch.startsWith(epochPrefix) && epoch.length === 17;

/**
 * After this many messages, a snapshot of the whole state replaces all earlier messages, which limits a replay. A large
 * state is written less often, so that snapshots stay a small part of the writes.
 */
const snapshotDue = (messages: number, slots: number): boolean =>
  messages >= Math.max(1000, slots / 20) && slots <= maxSnapshotSlots;
/** A snapshot of more slots would be too large for a message; the log's maximum age then limits the replay. */
const maxSnapshotSlots = 100_000;
/**
 * A window is deleted when no request has counted in it for this long, by this process's clock. Its number does not
 * decide, because the gateways' clocks may differ, by up to a window and this time.
 */
const forgetAfterMs = 120_000;

/**
 * Takes the partition over: reads its log, then appends a message with a new epoch. Exactly one process can append after
 * any message, so there is exactly one owner, without a lease or a clock: a former owner's next append is refused, and
 * it answers only what was appended.
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
    // Requests that waited behind the failed append were not counted.
    for (const { reject } of batch.takeBack()) reject(new MovedError('ownership ended'));
  };

  const forgetOldWindows = (): void => {
    const nowMs = elapsedMs();
    for (const window of counts.keys()) {
      const atMs = countedAtMs.get(window);
      // A window read from the log counts as used now.
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
        // If this fails, the other gateways find no listener, and read the log.
        await log.append(partition, { epoch, ...last, released: true }, sequence).catch(() => {});
      }
      lost = true;
      await listener.close();
    },
  };
  // No gateway knows the epoch before it is in the log, so listening first loses no request.
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
  /** Takes no new requests and passes on those that have arrived. */
  close(): Promise<void>;
}

interface Waiting {
  readonly window: number;
  readonly takes: Takes;
  readonly resolve: (positions: Positions) => void;
  readonly reject: (error: unknown) => void;
}
