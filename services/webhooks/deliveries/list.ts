import type { DeliveryRow } from '@causeway/deliveries';
import { contract, maskPayload, type QueryOf, type Role, summaryOf } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { type Kysely, type SqlBool, sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import { readEventIds } from '../events/by-record.ts';
import type { Tables } from '../tables.ts';
import { type DeliveryRecord, deliveryAnswer, selectDeliveries } from './record.ts';

export const listDeliveries = (context: WebhooksContext) =>
  handler(contract.listDeliveries, async ({ companyId, user, query }) => {
    const { limit, cursor, ...filter } = query;
    const page = await readDeliveries(context, companyId, { filter, limit, cursor });
    const eventIds = page.deliveries.map(({ event_id }) => event_id);
    const summaries = await readSummaries(context.db, companyId, eventIds, user.role);
    return json(200, {
      ...page,
      deliveries: page.deliveries.map((one) => ({
        ...deliveryAnswer(one),
        summary: summaries.get(one.event_id) ?? '',
      })),
    });
  });

/** @throws Problem `invalid_request` */
export const readDeliveries = async (
  { db, cursors }: Pick<WebhooksContext, 'db' | 'cursors'>,
  companyId: number,
  { cursor, ...wanted }: Omit<WantedDeliveries, 'from'> & { readonly cursor: string | undefined },
) => {
  const from =
    cursor === undefined ? undefined : placeOf(await cursors.open(companyId, 'deliveries', cursor));
  const { deliveries, next } = await readPage(db, companyId, { ...wanted, from });
  return {
    deliveries,
    nextCursor: next ? await cursors.seal(companyId, 'deliveries', ...positionsOf(next)) : null,
    hasMore: next !== null,
  };
};

const positionsOf = ({ event_id, subscription_id, replay_id }: Place) => [
  event_id,
  subscription_id,
  replay_id,
];
const placeOf = ([event_id = 0, subscription_id = 0, replay_id = 0]: readonly number[]): Place => ({
  event_id,
  subscription_id,
  replay_id,
});

type Filter = Partial<Omit<QueryOf<(typeof contract)['listDeliveries']>, 'limit' | 'cursor'>>;

type Place = Pick<DeliveryRow, 'event_id' | 'subscription_id' | 'replay_id'>;

interface Page {
  readonly deliveries: readonly DeliveryRecord[];
  /** The last delivery examined, where the next page continues; null at the end. */
  readonly next: Place | null;
}

interface WantedDeliveries {
  readonly filter: Filter;
  readonly limit: number;
  readonly from?: Place | undefined;
}

/** Filters without an index scan in chunks until the time is up; the next page continues where that ended. */
const readPage = async (
  db: Kysely<Tables>,
  companyId: number,
  { filter, limit, from }: WantedDeliveries,
): Promise<Page> => {
  const stopMs = performance.now() + maxSearchMs;
  const deliveries: DeliveryRecord[] = [];
  const { clientId, invoiceId } = filter;
  const ofRecord = clientId !== undefined || invoiceId !== undefined;
  for (let at = from; ; ) {
    const eventIds = ofRecord
      ? await readEventIds(db, companyId, {
          record: { clientId, invoiceId },
          before: at?.event_id ?? Number.MAX_SAFE_INTEGER,
          count: eventsOfRecord,
        })
      : undefined;
    if (eventIds?.length === 0) return { deliveries, next: null };
    const stretch = { companyId, filter, eventIds, from: at };
    const end = eventIds ? endOfEvents(eventIds) : isIndexed(filter) ? undefined : await endOf(db, stretch);
    deliveries.push(...(await readStretch(db, stretch, end, limit + 1 - deliveries.length)));
    if (deliveries.length > limit)
      return { deliveries: deliveries.slice(0, limit), next: deliveries[limit - 1]! };
    if (!end || performance.now() > stopMs) return { deliveries, next: end ?? null };
    at = end;
  }
};

/** Undefined if these are the record's last events. */
const endOfEvents = (eventIds: readonly number[]): Place | undefined =>
  eventIds.length < eventsOfRecord
    ? undefined
    : { event_id: eventIds.at(-1)!, subscription_id: 0, replay_id: 0 };

/** Of which one query reads the deliveries. */
const eventsOfRecord = 500;
/** Deliveries that one query scans. */
const stretchRows = 10_000;
const maxSearchMs = 1_000;

interface Stretch {
  readonly companyId: number;
  readonly filter: Filter;
  /** Only deliveries of these. Absent: of all. */
  readonly eventIds?: readonly number[] | undefined;
  readonly from?: Place | undefined;
}

/**
 * Whether the page needs no scan: there is an index in this order for a company's deliveries, and one for those of
 * a subscription in a state. An event has few deliveries, and a partition finds those of a day.
 */
const isIndexed = ({ eventId, type, statusCode, errorClass, replayId, ...rest }: Filter): boolean =>
  eventId !== undefined ||
  ([type, statusCode, errorClass, replayId].every((one) => one === undefined) &&
    (usesState(rest) || (rest.state === undefined && rest.subscriptionId === undefined)));

const readStretch = (
  db: Kysely<Tables>,
  stretch: Stretch,
  end: Place | undefined,
  count: number,
): Promise<readonly DeliveryRecord[]> => {
  const { companyId, filter } = stretch;
  const { state, subscriptionId, replayId, type, statusCode, errorClass } = filter;
  let query = selectDeliveries(db, companyId)
    .modifyFront(indexOf(filter))
    .where(within(stretch, end))
    .orderBy('d.event_id', 'desc')
    .orderBy('d.subscription_id', 'desc')
    .orderBy('d.replay_id', 'desc')
    .limit(count);
  if (state === 'undelivered')
    query = query.where('d.state', 'in', ['waiting', 'held', 'failed']).where('d.attempts', '>', 0);
  else if (state !== undefined) query = query.where('d.state', '=', state);
  if (subscriptionId !== undefined) query = query.where('d.subscription_id', '=', subscriptionId);
  if (usesState(filter)) query = query.where('d.due_utc', 'is', null);
  if (replayId !== undefined) query = query.where('d.replay_id', '=', replayId);
  if (type !== undefined) query = query.where('d.event_type', '=', type);
  if (statusCode !== undefined) query = query.where('d.last_status', '=', statusCode);
  if (errorClass !== undefined) query = query.where('d.last_error', '=', errorClass);
  return query.execute();
};

/** Undefined if the list ends within the chunk. */
const endOf = (db: Kysely<Tables>, stretch: Stretch): Promise<Place | undefined> => {
  const { companyId, filter } = stretch;
  let query = db
    .selectFrom('deliveries as d')
    .modifyFront(indexOf(filter))
    .select(['d.event_id', 'd.subscription_id', 'd.replay_id'])
    .where('d.company_id', '=', companyId)
    .where(within(stretch))
    .orderBy('d.event_id', 'desc')
    .orderBy('d.subscription_id', 'desc')
    .orderBy('d.replay_id', 'desc')
    .limit(1)
    .offset(stretchRows - 1);
  if (usesState(filter))
    query = query
      .where('d.subscription_id', '=', filter.subscriptionId)
      .where('d.state', '=', filter.state)
      .where('d.due_utc', 'is', null);
  return query.executeTakeFirst();
};

/** The index orders waiting deliveries by due time, all others by event. */
const usesState = <F extends Filter>(filter: F): filter is F & OfState =>
  filter.state !== undefined &&
  filter.state !== 'waiting' &&
  filter.state !== 'undelivered' &&
  filter.subscriptionId !== undefined;

type OfState = { readonly state: DeliveryRow['state']; readonly subscriptionId: number };

/** Without the hint, MySQL picks an index that looks selective and sorts every row it finds. */
const indexOf = (filter: Filter) =>
  usesState(filter) ? sql`/*+ INDEX(d by_state) */` : sql`/*+ INDEX(d PRIMARY) */`;

const within = ({ filter: { eventId, since, until }, eventIds, from }: Stretch, end?: Place) => {
  const conditions = [
    ...(eventIds === undefined ? [] : [sql`d.event_id IN (${sql.join(eventIds)})`]),
    ...(eventId === undefined ? [] : [sql`d.event_id = ${eventId}`]),
    ...(since === undefined ? [] : [sql`d.created_utc >= ${since}`]),
    ...(until === undefined ? [] : [sql`d.created_utc < ${until}`]),
    ...(from === undefined
      ? []
      : [
          sql`d.event_id <= ${from.event_id}`,
          sql`(d.event_id < ${from.event_id}
            OR (d.subscription_id, d.replay_id) < (${from.subscription_id}, ${from.replay_id}))`,
        ]),
    ...(end === undefined
      ? []
      : [
          sql`d.event_id >= ${end.event_id}`,
          sql`(d.event_id > ${end.event_id}
            OR (d.subscription_id, d.replay_id) >= (${end.subscription_id}, ${end.replay_id}))`,
        ]),
  ];
  return conditions.length === 0 ? sql<SqlBool>`TRUE` : sql<SqlBool>`(${sql.join(conditions, sql` AND `)})`;
};

/** Longer payloads are left out, so that a page of the log reads little. */
const maxPayloadBytes = 8_192;

/** None of events with long payloads, or that are kept no longer. */
const readSummaries = async (
  db: Kysely<Tables>,
  companyId: number,
  eventIds: readonly number[],
  role: Role,
): Promise<ReadonlyMap<number, string>> => {
  if (eventIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('events')
    .select(['event_id', 'payload'])
    .where('company_id', '=', companyId)
    .where('event_id', 'in', [...new Set(eventIds)])
    .where(sql<boolean>`LENGTH(payload) <= ${maxPayloadBytes}`)
    .execute();
  return new Map(
    rows.map(({ event_id, payload }) => {
      const whole: unknown = JSON.parse(payload.toString());
      const shown = role === 'viewer' ? maskPayload(whole) : whole;
      return [event_id, summaryOf(shown as Readonly<Record<string, unknown>>)];
    }),
  );
};
