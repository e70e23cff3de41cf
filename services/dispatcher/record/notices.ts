import type { SubscriptionRow } from '@causeway/deliveries';
import { type Notice, writeNotices } from '@causeway/identity';
import { type Kysely, sql } from 'kysely';
import { type AttemptedDelivery, type QueueKey, queueName } from '../delivery.ts';
import { isOneOfQueues } from '../store.ts';
import type { Tables } from '../tables.ts';

export type NamedSubscription = Pick<SubscriptionRow, 'company_id' | 'subscription_id' | 'name' | 'url'>;

/**
 * Tells the members of the first delivery of a day (UTC) that a subscription gave up, in the transaction of its last
 * attempt.
 */
export const noteGivenUp = async (
  db: Kysely<Tables>,
  givenUp: readonly AttemptedDelivery[],
  at: Date,
): Promise<void> => {
  if (givenUp.length === 0) return;
  const subscriptions = await readNames(db, givenUp);
  const firsts = new Map(givenUp.map((one) => [queueName(one), one]));
  await writeNotices(
    db,
    [...firsts].flatMap(([name, delivery]): readonly Notice[] => {
      const subscription = subscriptions.get(name);
      if (!subscription) return [];
      const kind = 'delivery_given_up';
      return [
        {
          companyId: delivery.company_id,
          kind,
          cause: `${kind}:${delivery.subscription_id}:${at.toISOString().slice(0, 'yyyy-mm-dd'.length)}`,
          subject: subjectOf(subscription),
          detail: {
            eventId: delivery.event_id,
            replayId: delivery.replay_id,
            eventType: delivery.event_type,
            attempts: delivery.attempt,
            statusCode: delivery.result.statusCode,
          },
          at,
        },
      ];
    }),
  );
};

/** Without the URL's path and query, which may hold a secret of the receiver. */
export const subjectOf = ({ subscription_id, name, url }: NamedSubscription): Notice['subject'] => ({
  id: subscription_id,
  name: name ?? new URL(url).host,
});

export const readNames = async (
  db: Kysely<Tables>,
  keys: readonly QueueKey[],
): Promise<ReadonlyMap<string, NamedSubscription>> => {
  const { rows } = await sql<NamedSubscription>`
    SELECT company_id, subscription_id, name, url FROM subscriptions FORCE INDEX (PRIMARY)
    WHERE ${isOneOfQueues(keys)}`.execute(db);
  return new Map(rows.map((row) => [queueName(row), row]));
};
