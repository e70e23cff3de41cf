import { type DeliveryRow, invalidField, type portalContract, type QueryOf } from '@causeway/proto';
import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Tables } from '../tables.ts';
import { type DeliveryRecord, deliveryColumns } from './record.ts';

export type Filter = Omit<QueryOf<(typeof portalContract)['listDeliveries']>, 'limit' | 'cursor'>;

/** The last delivery that has been looked at. */
export type Place = Pick<DeliveryRow, 'event_id' | 'subscription_id' | 'replay_id'>;

export interface Page {
  readonly deliveries: readonly DeliveryRecord[];
  /** Where to go on; null at the end. */
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
  let at = from;
  for (;;) {
    const stretch = { companyId, filter, from: at };
    const rows = await readStretch(db, stretch, limit + 1 - deliveries.length);
    deliveries.push(...rows);
    if (deliveries.length > limit)
      return { deliveries: deliveries.slice(0, limit), next: deliveries[limit - 1]! };
    const end = await endOf(db, stretch);
    if (!end) return { deliveries, next: null };
    if (deliveries.length === limit || performance.now() > stopMs) return { deliveries, next: end };
    at = end;
  }
};

/** Deliveries that one query looks through. */
const stretchRows = 20_000;
const maxSearchMs = 1_000;

interface Stretch {
  readonly companyId: number;
  readonly filter: Filter;
  readonly from?: Place | undefined;
}

const readStretch = (
  db: Kysely<Tables>,
  stretch: Stretch,
  count: number,
): Promise<readonly DeliveryRecord[]> => {
  const { companyId, filter } = stretch;
  const { state, subscriptionId, replayId, type, statusCode, errorClass } = filter;
  let query = db
    .selectFrom(ordered(db, stretch).limit(stretchRows).as('d'))
    .leftJoin('subscriptions as s', (join) =>
      join.onRef('s.subscription_id', '=', 'd.subscription_id').on('s.company_id', '=', companyId),
    )
    .select(deliveryColumns.map((column) => `d.${column}` as const))
    .select(['s.name', 's.url', 's.enabled']);
  if (state !== undefined) query = query.where('d.state', '=', state);
  if (subscriptionId !== undefined) query = query.where('d.subscription_id', '=', subscriptionId);
  if (replayId !== undefined) query = query.where('d.replay_id', '=', replayId);
  if (type !== undefined) query = query.where('d.event_type', '=', type);
  if (statusCode !== undefined) query = query.where('d.last_status', '=', statusCode);
  if (errorClass !== undefined) query = query.where('d.last_error', '=', errorClass);
  return query
    .orderBy('d.event_id', 'desc')
    .orderBy('d.subscription_id', 'desc')
    .orderBy('d.replay_id', 'desc')
    .limit(count)
    .execute();
};

/** The last delivery of a stretch; undefined: there are fewer, and so no more to look at. */
const endOf = (db: Kysely<Tables>, stretch: Stretch): Promise<Place | undefined> =>
  ordered(db, stretch)
    .clearSelect()
    .select(['event_id', 'subscription_id', 'replay_id'])
    .limit(1)
    .offset(stretchRows - 1)
    .executeTakeFirst();

/**
 * Deliveries in order, narrowed by what an index follows in this order: the event, the days, and a subscription
 * together with a state. A subscription alone is looked for, as its index is in the order of states.
 */
const ordered = (db: Kysely<Tables>, { companyId, filter, from }: Stretch) => {
  const { eventId, subscriptionId, state, since, until } = filter;
  let query = db.selectFrom('deliveries').select(deliveryColumns).where('company_id', '=', companyId);
  if (eventId !== undefined) query = query.where('event_id', '=', eventId);
  if (since !== undefined) query = query.where('created_utc', '>=', since);
  if (until !== undefined) query = query.where('created_utc', '<', until);
  if (subscriptionId !== undefined && state !== undefined)
    query = query.where('subscription_id', '=', subscriptionId).where('state', '=', state);
  if (from)
    query = query
      .where('event_id', '<=', from.event_id)
      .where(
        sql<SqlBool>`(event_id < ${from.event_id} OR (subscription_id, replay_id) < (${from.subscription_id}, ${from.replay_id}))`,
      );
  return query.orderBy('event_id', 'desc').orderBy('subscription_id', 'desc').orderBy('replay_id', 'desc');
};

export const sealPlace = ({ event_id, subscription_id, replay_id }: Place): string =>
  Buffer.from(`${event_id}.${subscription_id}.${replay_id}`).toString('base64url');

/** @throws Problem `invalid_request` */
export const openPlace = (cursor: string): Place => {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, event, subscription, replay] = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
  if (replay === undefined) throw invalidField('cursor', 'invalid cursor');
  return { event_id: Number(event), subscription_id: Number(subscription), replay_id: Number(replay) };
};
