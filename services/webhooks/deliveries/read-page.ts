import type { contract, DeliveryRow, QueryOf } from '@causeway/proto';
import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Tables } from '../tables.ts';
import { type DeliveryRecord, selectDeliveries } from './record.ts';

export type Filter = Omit<QueryOf<(typeof contract)['listDeliveries']>, 'limit' | 'cursor'>;

/** A delivery's place in the list. */
export type Place = Pick<DeliveryRow, 'event_id' | 'subscription_id' | 'replay_id'>;

export interface Page {
  readonly deliveries: readonly DeliveryRecord[];
  /** The last one that has been looked at, to go on from; null at the end. */
  readonly next: Place | null;
}

interface Wanted {
  readonly filter: Filter;
  readonly limit: number;
  /** Absent: from the newest on. */
  readonly from?: Place | undefined;
}

/**
 * A page of a company's deliveries, by event from the newest on. What the indexes do not know is looked for in
 * stretches, until the page is full or it has taken a while: then the page is short, and goes on where it ended.
 */
export const readPage = async (
  db: Kysely<Tables>,
  companyId: number,
  { filter, limit, from }: Wanted,
): Promise<Page> => {
  const stopMs = performance.now() + maxSearchMs;
  const deliveries: DeliveryRecord[] = [];
  for (let at = from; ; ) {
    const stretch = { companyId, filter, from: at };
    const end = isIndexed(filter) ? undefined : await endOf(db, stretch);
    deliveries.push(...(await readStretch(db, stretch, end, limit + 1 - deliveries.length)));
    if (deliveries.length > limit)
      return { deliveries: deliveries.slice(0, limit), next: deliveries[limit - 1]! };
    if (!end || performance.now() > stopMs) return { deliveries, next: end ?? null };
    at = end;
  }
};

/** Deliveries that one query looks through. */
const stretchRows = 10_000;
const maxSearchMs = 1_000;

interface Stretch {
  readonly companyId: number;
  readonly filter: Filter;
  readonly from?: Place | undefined;
}

/**
 * Whether nothing has to be looked for: there is an index in this order for a company's deliveries, and one for
 * those of a subscription in a state. An event has few, and a day's are found by their partition.
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
  if (state !== undefined) query = query.where('d.state', '=', state);
  if (subscriptionId !== undefined) query = query.where('d.subscription_id', '=', subscriptionId);
  if (usesState(filter)) query = query.where('d.due_utc', 'is', null);
  if (replayId !== undefined) query = query.where('d.replay_id', '=', replayId);
  if (type !== undefined) query = query.where('d.event_type', '=', type);
  if (statusCode !== undefined) query = query.where('d.last_status', '=', statusCode);
  if (errorClass !== undefined) query = query.where('d.last_error', '=', errorClass);
  return query.execute();
};

/** The last delivery of a stretch, whatever it is; undefined: there are fewer, and so it is the last stretch. */
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
      .where('d.subscription_id', '=', filter.subscriptionId!)
      .where('d.state', '=', filter.state!)
      .where('d.due_utc', 'is', null);
  return query.executeTakeFirst();
};

/** What waits lies there by its time, everything else by its event. */
const usesState = ({ state, subscriptionId }: Filter): boolean =>
  state !== undefined && state !== 'waiting' && subscriptionId !== undefined;

/** Left to itself, the server takes an index that looks selective, and sorts all that it finds. */
const indexOf = (filter: Filter) =>
  usesState(filter) ? sql`/*+ INDEX(d by_state) */` : sql`/*+ INDEX(d PRIMARY) */`;

/** After a place and, if given, up to another, itself included. */
const within = ({ filter: { eventId, since, until }, from }: Stretch, end?: Place) => {
  const conditions = [
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
