import { failuresUntilProbing } from '@causeway/proto';
import { type RawBuilder, sql } from 'kysely';

/** What decides when a dispatcher reads a queue; times in milliseconds. */
export interface QueueDue {
  readonly nextMs: number | null;
  readonly probeMs: number | null;
  readonly failures: number;
}

/**
 * The next time that a dispatcher reads a queue, given that one of its deliveries is due at `dueMs`. While its
 * subscription fails, the delivery waits for the next probe.
 */
export const nextDueMs = ({ nextMs, probeMs, failures }: QueueDue, dueMs: number): number => {
  const openMs = failures < failuresUntilProbing ? dueMs : Math.max(dueMs, probeMs ?? dueMs);
  return Math.min(nextMs ?? openMs, openMs);
};

/** The same rule in SQL, for a row of `delivery_queues`. */
export const nextDueSql = (due: Date): RawBuilder<Date> => sql`CASE
  WHEN next_due_utc <= ${due} THEN next_due_utc
  WHEN consecutive_failures >= ${sql.lit(failuresUntilProbing)} AND probe_due_utc > ${due}
    THEN IF(next_due_utc <= probe_due_utc, next_due_utc, probe_due_utc)
  ELSE ${due} END`;
