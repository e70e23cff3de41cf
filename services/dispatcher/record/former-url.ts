import { type Kysely, sql } from 'kysely';
import { type AttemptedDelivery, queueName, queuesOf } from '../delivery.ts';
import { isOneOfQueues } from '../store.ts';
import type { Tables } from '../tables.ts';

/**
 * Attempts at a former URL of their subscription say nothing about its receiver (contract, "Auto-disable"): their
 * failures become retries that are due at once. Call it with the queues locked, so that a change of the URL that it does not see yet
 * is applied later.
 * @param counted those of which the URL matters
 */
export const setFormerApart = async (
  db: Kysely<Tables>,
  attempted: readonly AttemptedDelivery[],
  counted: readonly AttemptedDelivery[],
  now: Date,
): Promise<{
  readonly recorded: readonly AttemptedDelivery[];
  readonly former: ReadonlySet<AttemptedDelivery>;
}> => {
  const former = new Set<AttemptedDelivery>();
  const keys = queuesOf(counted);
  if (keys.length === 0) return { recorded: attempted, former };
  const { rows } = await sql<Tables['subscriptions']>`
    SELECT company_id, subscription_id, url FROM subscriptions FORCE INDEX (PRIMARY)
    WHERE ${isOneOfQueues(keys)}`.execute(db);
  const urls = new Map(rows.map((row) => [queueName(row), row.url]));
  const recorded = attempted.map((attempt): AttemptedDelivery => {
    const url = urls.get(queueName(attempt));
    if (url === undefined || url === attempt.target.url) return attempt;
    const decision = { outcome: 'retry', dueMs: now.getTime(), gone: false, notBeforeMs: 0 } as const;
    const apart = attempt.decision.outcome === 'succeeded' ? attempt : { ...attempt, decision };
    former.add(apart);
    return apart;
  });
  return { recorded, former };
};
