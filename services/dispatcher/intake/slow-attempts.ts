import { acrossTenants, admitWaiting, type Database, type Log, transaction } from '@causeway/runtime';
import { type Job, type QueueKey, queueName } from '../job.ts';
import { scheduleQueues } from '../queues/schedule-queues.ts';
import { addRows } from '../store/add-rows.ts';
import type { Tables } from '../tables.ts';
import { hasNoRow, type LeasedDelivery } from './announced.ts';

/** Tracks first attempts that take long. */
export interface SlowAttempts {
  started(job: Job): void;
  ended(job: Job): void;
  stop(): Promise<void>;
}

/**
 * Writes the rows of first attempts that have been under way for a second. They then show as waiting, and their
 * events leave the outbox, even if a receiver hangs.
 */
export const trackSlowAttempts = ({
  db,
  now,
  waitingQuota: quota,
  onWritten,
  log,
}: SlowAttemptsOptions): SlowAttempts => {
  /** Start times, in ascending order. */
  const underWay = new Map<Job, number>();
  let running = Promise.resolve();

  const look = async (): Promise<void> => {
    const before = performance.now() - slowMs;
    const slow: Job[] = [];
    for (const [job, sinceMs] of underWay) {
      if (sinceMs > before || slow.length === perTransaction) break;
      slow.push(job);
      underWay.delete(job);
    }
    if (slow.length === 0) return;
    try {
      onWritten(await write(db, slow, { quota, now: now() }));
    } catch (error) {
      log.debug({ error }, 'slow attempts have no rows until they end');
    }
  };
  const timer = setInterval(() => {
    running = running.then(look);
  }, everyMs).unref();

  return {
    started: (job) => {
      if (job.announced) underWay.set(job, performance.now());
    },
    ended: (job) => void underWay.delete(job),
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
};

const slowMs = 1_000;
const everyMs = 250;
const perTransaction = 1_000;

/**
 * Locks queues before deliveries, as every transaction does. If this process dies, the deliveries are due when their
 * leases end.
 * @returns deliveries that have rows now. At the quota of waiting deliveries, the others get theirs with their
 * results.
 */
const write = (
  db: Database<Tables>,
  jobs: readonly Job[],
  { quota, now }: { readonly quota: number; readonly now: Date },
): Promise<readonly Job[]> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'a dispatcher defers slow deliveries of many companies in one batch');
    const { admitted } = await admitWaiting(all, jobs.filter(hasNoRow), { quota, now, makesRoom: false });
    if (admitted.length === 0) return [];
    const queues = new Map<string, QueueKey>(admitted.map((job) => [queueName(job), job]));
    const lastLeaseMs = Math.max(...admitted.map(({ leaseMs }) => leaseMs));
    await scheduleQueues(all, [...queues.values()], new Date(lastLeaseMs));
    await addRows(all, admitted, now);
    return admitted;
  });

export interface SlowAttemptsOptions {
  readonly db: Database<Tables>;
  readonly now: () => Date;
  /** Deliveries of one company that may wait. */
  readonly waitingQuota: number;
  /** Called with the deliveries that have rows now. */
  readonly onWritten: (deliveries: readonly LeasedDelivery[]) => void;
  readonly log: Log;
}
