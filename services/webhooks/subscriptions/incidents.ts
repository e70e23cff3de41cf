import type { IncidentRow } from '@causeway/deliveries';
import { incidentCause, type Told } from '@causeway/identity';
import { contract, definitions, notFound } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import { readUndelivered, sumOfUndelivered } from '../deliveries/undelivered.ts';
import type { Tables } from '../tables.ts';
import { readOutcomes } from './read.ts';

export const listIncidents = (context: WebhooksContext) =>
  handler(definitions.listIncidents, async ({ companyId, query }) => {
    const { cursors, db } = context;
    const { limit, cursor, state, subscriptionId } = query;
    const [before] = await cursors.open(companyId, 'incidents', cursor);
    let incidents = selectIncidents(db, companyId)
      .orderBy('incident_id', 'desc')
      .limit(limit + 1);
    if (state !== undefined)
      incidents = incidents.where('until_utc', state === 'open' ? 'is' : 'is not', null);
    if (subscriptionId !== undefined) incidents = incidents.where('subscription_id', '=', subscriptionId);
    if (before !== undefined) incidents = incidents.where('incident_id', '<', before);
    const rows = await incidents.execute();
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return json(200, {
      incidents: await incidentAnswers(context, companyId, shown),
      ...(await cursors.pageEnd(companyId, 'incidents', last && [last.incident_id])),
    });
  });

export const getIncident = (context: WebhooksContext) =>
  handler(contract.getIncident, async (call) => {
    const { companyId } = call;
    const row = await selectIncidents(context.db, companyId)
      .where('incident_id', '=', call.id('incident'))
      .executeTakeFirstOrThrow(() => notFound('incident'));
    return json(200, (await incidentAnswers(context, companyId, [row]))[0]);
  });

const selectIncidents = (db: Kysely<Tables>, companyId: number) =>
  db.selectFrom('incidents').selectAll().where('company_id', '=', companyId);

const incidentAnswers = async (
  { db, now }: WebhooksContext,
  companyId: number,
  rows: readonly IncidentRow[],
) => {
  const ids = [...new Set(rows.map(({ subscription_id }) => subscription_id))];
  if (ids.length === 0) return [];
  const open = rows.filter(({ until_utc }) => until_utc === null);
  const [outcomes, queues, messages, undelivered] = await Promise.all([
    readOutcomes(db, companyId, ids, now()),
    readAttempts(db, companyId, ids),
    readTold(db, companyId, rows),
    open.length === 0
      ? []
      : readUndelivered(db, companyId, open.length === 1 ? { subscriptionId: open[0]!.subscription_id } : {}),
  ]);
  const groups = Map.groupBy(undelivered, ({ subscriptionId }) => subscriptionId);
  return rows.map((row) => {
    const isOpen = row.until_utc === null;
    return {
      id: row.incident_id,
      subscriptionId: row.subscription_id,
      sinceUtc: row.since_utc,
      untilUtc: row.until_utc,
      firstErrorClass: row.first_error,
      firstStatusCode: row.first_status,
      recoveredUtc: row.recovered_utc,
      undelivered: sumOfUndelivered(isOpen ? (groups.get(row.subscription_id) ?? []) : []),
      lastSuccessUtc: outcomes.get(row.subscription_id)?.last_success ?? null,
      told: messages.get(causeOf(row)) ?? [],
      nextAttemptUtc: isOpen ? (queues.get(row.subscription_id) ?? null) : null,
    };
  });
};

const causeOf = ({ subscription_id, since_utc }: IncidentRow): string =>
  incidentCause(subscription_id, since_utc);

/** By the causes of their notices; a message that came twice is listed once. */
const readTold = async (db: Kysely<Tables>, companyId: number, rows: readonly IncidentRow[]) => {
  const notices = await db
    .selectFrom('notices')
    .select(['cause', 'detail'])
    .where('company_id', '=', companyId)
    .where('cause', 'in', rows.map(causeOf))
    .execute();
  return new Map(
    notices.map(({ cause, detail }) => {
      const { told = [] } = JSON.parse(detail) as { readonly told?: readonly Told[] };
      const first = Map.groupBy(told, ({ channel, memberId }) => `${channel} ${memberId}`);
      return [cause, [...first.values()].map(([one]) => one!)];
    }),
  );
};

/** When the next attempts may begin. */
const readAttempts = async (db: Kysely<Tables>, companyId: number, ids: readonly number[]) => {
  const rows = await db
    .selectFrom('delivery_queues as q')
    .innerJoin('subscriptions as s', (join) =>
      join.onRef('s.subscription_id', '=', 'q.subscription_id').on('s.company_id', '=', companyId),
    )
    .select(['q.subscription_id', 'q.next_due_utc', 'q.probe_due_utc'])
    .where('q.company_id', '=', companyId)
    .where('q.subscription_id', 'in', ids)
    .where('s.enabled', '=', 1)
    .where('s.paused_utc', 'is', null)
    .execute();
  return new Map(
    rows.map(({ subscription_id, next_due_utc, probe_due_utc }) => [
      subscription_id,
      next_due_utc && probe_due_utc && probe_due_utc > next_due_utc ? probe_due_utc : next_due_utc,
    ]),
  );
};
