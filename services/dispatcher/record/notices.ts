import type { SubscriptionRow } from '@causeway/deliveries';
import { type Notice, writeNotices } from '@causeway/identity';
import { failuresUntilDisabled, failuresUntilProbing, failuresUntilWarned } from '@causeway/proto';
import { rowList } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type AttemptedDelivery, type QueueKey, queueName } from '../delivery.ts';
import type { HealthChange } from '../health.ts';
import { isOneOfQueues } from '../store.ts';
import type { Tables } from '../tables.ts';

type NamedSubscription = Pick<SubscriptionRow, 'company_id' | 'subscription_id' | 'name' | 'url'>;

/**
 * Tells the members of what has changed, in the transaction that changes it. A batch in which nothing did costs no
 * statement. A subscription that flaps is told at most once in any hour, and what it gave up once in any day.
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
    period: Period,
    detail: Notice['detail'] = {},
  ): readonly PeriodicNotice[] => {
    const found = subscriptions.get(queueName(key));
    if (!found) return [];
    const ofPeriod = (time: Date) =>
      noticeOfSubscription(found, { kind, period: time.toISOString().slice(0, period.digits), detail, at });
    const since = new Date(at.getTime() - period.ms);
    return [{ notice: ofPeriod(at), causeBefore: ofPeriod(since).cause, since }];
  };
  const firsts = new Map(givenUp.map((one) => [queueName(one), one]));
  await writePeriodic(db, [
    ...crossed.flatMap((one) => noticeOf(one, one.kind, hour, { failures: one.failures })),
    ...[...firsts.values()].flatMap((delivery) =>
      noticeOf(delivery, 'delivery_given_up', day, {
        eventId: delivery.event_id,
        replayId: delivery.replay_id,
        eventType: delivery.event_type,
        attempts: delivery.attempt,
        statusCode: delivery.result.statusCode,
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

interface Period {
  readonly ms: number;
  /** Of a time as text, so many name the period. */
  readonly digits: number;
}

const hour: Period = { ms: 3_600_000, digits: 13 };
const day: Period = { ms: 86_400_000, digits: 10 };

interface PeriodicNotice {
  readonly notice: Notice;
  /** Of the period before, whose notice may be younger than a whole period. */
  readonly causeBefore: string;
  readonly since: Date;
}

const writePeriodic = async (db: Kysely<Tables>, notices: readonly PeriodicNotice[]): Promise<void> => {
  if (notices.length === 0) return;
  const causes = notices.map(({ notice, causeBefore }) => [notice.companyId, causeBefore]);
  const { rows } = await sql<{ company_id: number; cause: string; created_utc: Date }>`
    SELECT company_id, cause, created_utc FROM notices FORCE INDEX (notices_cause)
    WHERE (company_id, cause) IN (${rowList(causes)})`.execute(db);
  const isTold = ({ notice, causeBefore, since }: PeriodicNotice): boolean =>
    rows.some(
      (row) => row.company_id === notice.companyId && row.cause === causeBefore && row.created_utc > since,
    );
  await writeNotices(
    db,
    notices.filter((one) => !isTold(one)).map(({ notice }) => notice),
  );
};
