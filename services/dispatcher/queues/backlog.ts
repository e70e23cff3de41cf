import { failuresUntilProbing } from '@causeway/proto';
import { acrossTenants, type Database, type Log, type Metrics, repeat } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * Measures how late deliveries are, for the alert on it: the oldest due time of all queues. Those of failing
 * subscriptions are late by design and counted apart, so that neither hides the other.
 */
export const watchBacklog = ({ db, now, log, metrics }: BacklogOptions): { stop(): Promise<void> } => {
  let open: Lateness = { oldestSeconds: 0, queues: 0 };
  let failing: Lateness = { oldestSeconds: 0, queues: 0 };
  const gauges = [
    ['open', () => open],
    ['failing', () => failing],
  ] as const;
  for (const [kind, read] of gauges) {
    metrics?.gauge(
      'dispatcher_oldest_due_seconds',
      'How long the longest waiting queue has been due',
      () => read().oldestSeconds,
      { kind },
    );
    metrics?.gauge('dispatcher_waiting_queues', 'Queues in which something waits', () => read().queues, {
      kind,
    });
  }
  const look = async (): Promise<number> => {
    const all = acrossTenants(db, 'the backlog is measured over all companies');
    [open, failing] = await Promise.all([readLateness(all, '<', now()), readLateness(all, '>=', now())]);
    return 0;
  };
  return repeat(look, {
    pauseMs: everyMs,
    onError: (error) => log.debug({ error }, 'the backlog could not be measured'),
  });
};

const everyMs = 5_000;

interface Lateness {
  readonly oldestSeconds: number;
  readonly queues: number;
}

const readLateness = async (
  db: ReturnType<typeof acrossTenants<Tables>>,
  compared: '<' | '>=',
  now: Date,
): Promise<Lateness> => {
  const row = await db
    .selectFrom('delivery_queues')
    .select([sql<Date | null>`MIN(next_due_utc)`.as('oldest'), sql<number>`COUNT(*)`.as('queues')])
    .where('next_due_utc', 'is not', null)
    .where('consecutive_failures', compared, failuresUntilProbing)
    .executeTakeFirstOrThrow();
  const lateMs = row.oldest ? now.getTime() - row.oldest.getTime() : 0;
  return { oldestSeconds: Math.max(0, lateMs) / 1000, queues: row.queues };
};

export interface BacklogOptions {
  readonly db: Database<Tables>;
  readonly now: () => Date;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
}
