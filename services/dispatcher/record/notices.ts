import type { SubscriptionRow } from '@causeway/deliveries';
import { type Notice, writeNotices } from '@causeway/identity';
import { failuresUntilDisabled, failuresUntilProbing, failuresUntilWarned } from '@causeway/proto';
import { type Kysely, sql } from 'kysely';
import { type AttemptedDelivery, type QueueKey, queueName } from '../delivery.ts';
import type { HealthChange } from '../health.ts';
import { isOneOfQueues } from '../store.ts';
import type { Tables } from '../tables.ts';

type NamedSubscription = Pick<SubscriptionRow, 'company_id' | 'subscription_id' | 'name' | 'url'>;

/**
 * Tells the members of what has changed, in the transaction that changes it. A batch in which nothing did costs no
 * statement. A subscription that flaps is told once an hour.
 * @param givenUp deliveries whose last attempt failed
 */
export const noteHealth = async (
  db: Kysely<Tables>,
  changes: readonly HealthChange[],
  givenUp: readonly AttemptedDelivery[],
  at: Date,
): Promise<void> => {
  const crossed = changes.flatMap((change) => {
    const kind = crossing(change);
    return kind ? [{ ...change, kind }] : [];
  });
  if (crossed.length === 0 && givenUp.length === 0) return;
  const subscriptions = await readNames(db, [...crossed, ...givenUp]);
  const noticeOf = (
    key: QueueKey,
    kind: Notice['kind'],
    period: string,
    detail: Notice['detail'] = {},
  ): readonly Notice[] => {
    const found = subscriptions.get(queueName(key));
    return found ? [noticeOfSubscription(found, { kind, period, detail, at })] : [];
  };
  const firsts = new Map(givenUp.map((one) => [queueName(one), one]));
  await writeNotices(db, [
    ...crossed.flatMap((one) => noticeOf(one, one.kind, hourOf(at), { failures: one.failures })),
    ...[...firsts.values()].flatMap((one) =>
      noticeOf(one, 'delivery_given_up', dayOf(at), {
        eventId: one.event_id,
        replayId: one.replay_id,
        eventType: one.event_type,
        attempts: one.attempt,
        statusCode: one.result.statusCode,
      }),
    ),
  ]);
};

export const noteDisabled = (
  db: Kysely<Tables>,
  subscription: NamedSubscription,
  reason: string,
  at: Date,
): Promise<void> =>
  writeNotices(db, [
    noticeOfSubscription(subscription, {
      kind: 'subscription_disabled',
      period: at.toISOString(),
      detail: { reason },
      at,
    }),
  ]);

const crossing = ({ before, failures }: HealthChange): Notice['kind'] | undefined => {
  const passes = (count: number): boolean => before < count && failures >= count;
  if (before >= failuresUntilProbing && failures < failuresUntilProbing) return 'subscription_recovered';
  if (failures >= failuresUntilDisabled) return undefined;
  if (passes(failuresUntilWarned)) return 'subscription_ending';
  return passes(failuresUntilProbing) ? 'subscription_failing' : undefined;
};

const noticeOfSubscription = (
  { company_id, subscription_id, name, url }: NamedSubscription,
  { kind, period, detail, at }: Pick<Notice, 'kind' | 'detail' | 'at'> & { readonly period: string },
): Notice => ({
  companyId: company_id,
  kind,
  cause: `${kind}:${subscription_id}:${period}`,
  // Without its path and query, which may hold a secret of the receiver.
  subject: { id: subscription_id, name: name ?? new URL(url).host },
  ...(detail && { detail }),
  at,
});

const readNames = async (
  db: Kysely<Tables>,
  keys: readonly QueueKey[],
): Promise<ReadonlyMap<string, NamedSubscription>> => {
  const { rows } = await sql<NamedSubscription>`
    SELECT company_id, subscription_id, name, url FROM subscriptions FORCE INDEX (PRIMARY)
    WHERE ${isOneOfQueues(keys)}`.execute(db);
  return new Map(rows.map((row) => [queueName(row), row]));
};

const hourOf = (at: Date): string => at.toISOString().slice(0, 13);
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
