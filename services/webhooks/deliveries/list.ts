import type { DeliveryRow } from '@causeway/deliveries';
import {
  contract,
  type EventType,
  maskPayload,
  type QueryOf,
  type Role,
  subjectOf,
  summaryOf,
} from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import { readEventIds, recordOf } from '../events/by-record.ts';
import type { Tables } from '../tables.ts';
import { type DeliveryRecord, deliveryAnswer, selectDeliveries } from './record.ts';
import { isUndelivered } from './undelivered.ts';

export const listDeliveries = (context: WebhooksContext) =>
  handler(contract.listDeliveries, async ({ companyId, user, query }) => {
    const { limit, cursor, ...filter } = query;
    const page = await readDeliveries(context, companyId, { filter, limit, cursor });
    const eventIds = page.deliveries.map(({ event_id }) => event_id);
    const abouts = await readAbouts(context.db, companyId, eventIds, user.role);
    return json(200, {
      ...page,
      deliveries: page.deliveries.map((one) => ({
        ...deliveryAnswer(one),
        ...(abouts.get(one.event_id) ?? noAbout),
      })),
    });
  });

/** @throws Problem `invalid_request` */
export const readDeliveries = async (
  { db, cursors }: Pick<WebhooksContext, 'db' | 'cursors'>,
  companyId: number,
  { cursor, ...selection }: Omit<WantedDeliveries, 'from'> & { readonly cursor: string | undefined },
) => {
  const from =
    cursor === undefined ? undefined : placeOf(await cursors.open(companyId, 'deliveries', cursor));
  const { deliveries, next } = await readPage(db, companyId, { ...selection, from });
  return {
    deliveries,
    ...(await cursors.pageEnd(companyId, 'deliveries', next ? positionsOf(next) : undefined)),
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

export type Filter = Partial<Omit<QueryOf<(typeof contract)['listDeliveries']>, 'limit' | 'cursor'>>;

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
  const record = recordOf(filter);
  for (let at = from; ; ) {
    const eventIds = record
      ? await readEventIds(db, companyId, {
          record,
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
  let query = selectDeliveries(db, companyId)
    .modifyFront(indexOf(filter))
    .where(within(stretch, end))
    .where(matches(companyId, filter))
    .orderBy('d.event_id', 'desc')
    .orderBy('d.subscription_id', 'desc')
    .orderBy('d.replay_id', 'desc')
    .limit(count);
  if (usesState(filter)) query = query.where('d.due_utc', 'is', null);
  return query.execute();
};

/** On the columns of a delivery. Records, events and times are conditions of `within`. */
export const matches = (
  companyId: number,
  { subscriptionId, replayId, type, statusCode, errorClass, state }: Filter,
) =>
  all([
    ...(state === undefined
      ? []
      : [state === 'undelivered' ? isUndelivered(companyId) : sql`d.state = ${state}`]),
    ...(subscriptionId === undefined ? [] : [sql`d.subscription_id = ${subscriptionId}`]),
    ...(replayId === undefined ? [] : [sql`d.replay_id = ${replayId}`]),
    ...(type === undefined ? [] : [sql`d.event_type = ${type}`]),
    ...(statusCode === undefined ? [] : [sql`d.last_status = ${statusCode}`]),
    ...(errorClass === undefined ? [] : [sql`d.last_error = ${errorClass}`]),
  ]);

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
  filter.state !== undefined && !unordered.has(filter.state) && filter.subscriptionId !== undefined;

const unordered: ReadonlySet<Filter['state']> = new Set(['waiting', 'undelivered']);

type OfState = { readonly state: DeliveryRow['state']; readonly subscriptionId: number };

/** Without the hint, MySQL picks an index that looks selective and sorts every row it finds. */
const indexOf = (filter: Filter) =>
  usesState(filter) ? sql`/*+ INDEX(d by_state) */` : sql`/*+ INDEX(d PRIMARY) */`;

export const within = (
  { filter: { eventId, since, until }, eventIds, from }: Pick<Stretch, 'filter' | 'eventIds' | 'from'>,
  end?: Place,
) =>
  all([
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
  ]);

const all = (conditions: readonly RawBuilder<unknown>[]) =>
  conditions.length === 0 ? sql<SqlBool>`TRUE` : sql<SqlBool>`(${sql.join(conditions, sql` AND `)})`;

/** Longer payloads are left out, so that a page of the log reads little. */
const maxPayloadBytes = 8_192;

/** What events are about; nothing of those that are kept no longer. */
export const readAbouts = async (
  db: Kysely<Tables>,
  companyId: number,
  eventIds: readonly number[],
  role: Role,
): Promise<ReadonlyMap<number, ReturnType<typeof aboutOf>>> => {
  if (eventIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('events')
    .select(['event_id', 'type', 'client_id', 'invoice_id'])
    .select(sql<Buffer | null>`IF(LENGTH(payload) <= ${maxPayloadBytes}, payload, NULL)`.as('short'))
    .where('company_id', '=', companyId)
    .where('event_id', 'in', [...new Set(eventIds)])
    .execute();
  return new Map(
    rows.map(({ event_id, type, short, ...ids }) => [
      event_id,
      aboutOf(type, short === null ? ids : JSON.parse(short.toString()), role),
    ]),
  );
};

/** Of an event that is kept no longer. */
export const noAbout = { subject: null, summary: '' };

const aboutOf = (type: EventType, payload: Readonly<Record<string, unknown>>, role: Role) => {
  const shown = (role === 'viewer' ? maskPayload(type, payload) : payload) as typeof payload;
  return { subject: subjectOf(shown), summary: summaryOf(shown) };
};
