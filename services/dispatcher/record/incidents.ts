import type { IncidentRow } from '@causeway/deliveries';
import { incidentCause, type Notice, writeNotices } from '@causeway/identity';
import { failuresUntilProbing } from '@causeway/proto';
import { acrossTenants, type Repeated, repeat, rowList, transaction } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Context } from '../context.ts';
import { type QueueKey, queueName } from '../delivery.ts';
import { isOneOfQueues, isQueue } from '../store.ts';
import type { Tables } from '../tables.ts';
import type { FirstFailure } from './count-failures.ts';
import { type NamedSubscription, readNames, subjectOf } from './notices.ts';

export interface BrokenReceiver extends QueueKey {
  readonly first: FirstFailure;
}

/**
 * Call it in the transaction that makes receivers broken, with their queues locked. One that has not caught up since it
 * was broken before is in the same incident.
 */
export const openIncidents = async (
  db: Kysely<Tables>,
  broken: readonly BrokenReceiver[],
  at: Date,
): Promise<void> => {
  if (broken.length === 0) return;
  const { rows: open } = await sql<QueueKey>`
    SELECT company_id, subscription_id FROM incidents FORCE INDEX (open_incident)
    WHERE ${isOneOfQueues(broken)} AND is_open = 1 FOR UPDATE`.execute(db);
  const openQueues = new Set(open.map(queueName));
  if (open.length > 0)
    await sql`
      UPDATE incidents FORCE INDEX (open_incident) SET broken_utc = ${at}, recovered_utc = NULL
      WHERE ${isOneOfQueues(open)} AND is_open = 1`.execute(db);
  const subscriptions = await readNames(db, broken);
  const added = broken
    .filter((one) => !openQueues.has(queueName(one)) && subscriptions.has(queueName(one)))
    .toSorted((a, b) => a.company_id - b.company_id || a.subscription_id - b.subscription_id);
  if (added.length === 0) return;
  const rows = added.map(({ company_id, subscription_id, first }) => [
    company_id,
    subscription_id,
    first.sinceUtc,
    first.statusCode,
    first.errorClass,
    at,
  ]);
  await sql`
    INSERT INTO incidents (company_id, subscription_id, since_utc, first_status, first_error, broken_utc)
    VALUES ${rowList(rows)}`.execute(db);
  await writeNotices(
    db,
    added.map((one) => noticeOf(subscriptions.get(queueName(one))!, 'subscription_failing', one.first, at)),
  );
};

/** Call it in the transaction that counts a success of a failing subscription. */
export const recoverIncidents = async (
  db: Kysely<Tables>,
  recovered: readonly QueueKey[],
  at: Date,
): Promise<void> => {
  if (recovered.length === 0) return;
  await sql`
    UPDATE incidents FORCE INDEX (open_incident) SET recovered_utc = ${at}
    WHERE ${isOneOfQueues(recovered)} AND is_open = 1 AND recovered_utc IS NULL`.execute(db);
};

const noticeOf = (
  subscription: NamedSubscription,
  kind: 'subscription_failing' | 'subscription_recovered',
  { sinceUtc, statusCode, errorClass }: FirstFailure,
  at: Date,
): Notice => ({
  companyId: subscription.company_id,
  kind,
  cause:
    kind === 'subscription_failing'
      ? incidentCause(subscription.subscription_id, sinceUtc)
      : `${kind}:${subscription.subscription_id}:${sinceUtc.toISOString()}`,
  subject: subjectOf(subscription),
  detail: { since: sinceUtc.toISOString(), statusCode, errorClass },
  at,
});

type IncidentOptions = Pick<Context, 'db' | 'now' | 'log'>;

/** On any replica: ends the incidents whose receivers have caught up, and removes old ones. @returns how many ended. */
export const endIncidents = async ({ db, now }: Pick<IncidentOptions, 'db' | 'now'>): Promise<number> => {
  const at = now();
  const all = acrossTenants(db, 'incidents of all companies are looked for');
  // Somebody switched it off or deleted it: nobody is told.
  const isGivenUp = sql`s.subscription_id IS NULL OR s.enabled = 0 AND s.auto_disabled = 0`;
  const { rows } = await sql<QueueKey & { readonly given_up: number }>`
    SELECT i.company_id, i.subscription_id, ${isGivenUp} AS given_up
    FROM incidents AS i FORCE INDEX (ended)
    LEFT JOIN subscriptions AS s ON s.company_id = i.company_id AND s.subscription_id = i.subscription_id
    LEFT JOIN delivery_queues AS q ON q.company_id = i.company_id AND q.subscription_id = i.subscription_id
    WHERE i.until_utc IS NULL AND (${isGivenUp} OR s.enabled = 1 AND q.held_deliveries = 0
      AND q.consecutive_failures < ${sql.lit(failuresUntilProbing)})`.execute(all);
  let ended = 0;
  for (const { given_up, ...key } of rows)
    if (given_up) await setEnd(db, key, { until_utc: at });
    else if (await transaction(db, (trx) => endIncident(trx, key, at))) ended++;
  await sql`DELETE FROM incidents WHERE until_utc < ${new Date(at.getTime() - keptMs)} LIMIT 1000`.execute(
    all,
  );
  return ended;
};

const keptMs = 90 * 86_400_000;

export const startIncidentEnds = (options: IncidentOptions): Repeated =>
  repeat(() => endIncidents(options), {
    pauseMs: 5_000,
    onError: (error) => options.log.warn({ error }, 'incidents could not be ended'),
  });

/** @returns whether it has ended. */
const endIncident = async (trx: Kysely<Tables>, key: QueueKey, at: Date): Promise<boolean> => {
  const queue = await trx
    .selectFrom('delivery_queues')
    .select('next_due_utc')
    .where(isQueue(key))
    .where('held_deliveries', '=', 0)
    .where('consecutive_failures', '<', failuresUntilProbing)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  const incident =
    queue &&
    (await trx
      .selectFrom('incidents')
      .select(['since_utc', 'first_status', 'first_error', 'broken_utc', 'recovered_utc'])
      .where(isQueue(key))
      .where('until_utc', 'is', null)
      .forUpdate()
      .executeTakeFirst());
  if (!incident) return false;
  const recoveredUtc =
    incident.recovered_utc ?? ((await hasSucceeded(trx, key, incident.broken_utc)) ? at : null);
  if (!recoveredUtc) return false;
  const isCaughtUp =
    (queue.next_due_utc === null || (await isOldestAfter(trx, key, recoveredUtc))) &&
    !(await hasMissed(trx, key));
  await setEnd(trx, key, { recovered_utc: recoveredUtc, ...(isCaughtUp && { until_utc: at }) });
  if (!isCaughtUp) return false;
  const subscription = (await readNames(trx, [key])).get(queueName(key));
  const first = {
    sinceUtc: incident.since_utc,
    statusCode: incident.first_status,
    errorClass: incident.first_error,
  };
  if (subscription) await writeNotices(trx, [noticeOf(subscription, 'subscription_recovered', first, at)]);
  return true;
};

const setEnd = async (
  db: Kysely<Tables>,
  key: QueueKey,
  set: Partial<Pick<IncidentRow, 'recovered_utc' | 'until_utc'>>,
): Promise<void> => {
  await db.updateTable('incidents').set(set).where(isQueue(key)).where('until_utc', 'is', null).execute();
};

/** Somebody enabled it, which sets its failures to zero; the newest deliveries tell of a success since it was broken. */
const hasSucceeded = async (trx: Kysely<Tables>, key: QueueKey, brokenUtc: Date): Promise<boolean> => {
  const newest = await trx
    .selectFrom('deliveries')
    .select('updated_utc')
    .where(isQueue(key))
    .where('state', '=', 'succeeded')
    .where('due_utc', 'is', null)
    .orderBy('event_id', 'desc')
    .limit(1_000)
    .execute();
  return newest.some(({ updated_utc }) => updated_utc > brokenUtc);
};

/** Of what waits, what is due first is the oldest. */
const isOldestAfter = async (trx: Kysely<Tables>, key: QueueKey, time: Date): Promise<boolean> => {
  const oldest = await trx
    .selectFrom('deliveries')
    .select('created_utc')
    .where(isQueue(key))
    .where('state', '=', 'waiting')
    .orderBy('due_utc')
    .limit(1)
    .executeTakeFirst();
  return oldest === undefined || oldest.created_utc > time;
};

const hasMissed = async (trx: Kysely<Tables>, key: QueueKey): Promise<boolean> => {
  const missed = await trx
    .selectFrom('missed_events')
    .select('missed')
    .where(isQueue(key))
    .where('missed', '>', 0)
    .executeTakeFirst();
  return missed !== undefined;
};
