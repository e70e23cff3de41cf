import type { DeliveryRow } from '@causeway/deliveries';
import { failuresUntilProbing, notFound, parseId } from '@causeway/proto';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

export interface DeliveryIds {
  readonly eventId: number;
  readonly subscriptionId: number;
  readonly replayId: number;
}

/** @throws Problem `not_found` */
export const deliveryIdsOf = ([event, subscription, replay]: readonly string[]): DeliveryIds => ({
  eventId: parseId(event, 'delivery'),
  subscriptionId: parseId(subscription, 'delivery'),
  replayId: parseId(replay, 'delivery', 0),
});

export type DeliveryRecord = DeliveryRow & {
  readonly name: string | null;
  /** Null if the subscription was deleted. */
  readonly url: string | null;
  readonly enabled: number | null;
  readonly next_probe_utc: Date | null;
};

export const selectDeliveries = (db: Kysely<Tables>, companyId: number) =>
  db
    .selectFrom('deliveries as d')
    .leftJoin('subscriptions as s', (join) =>
      join.onRef('s.subscription_id', '=', 'd.subscription_id').on('s.company_id', '=', companyId),
    )
    .leftJoin('delivery_queues as q', (join) =>
      join
        .onRef('q.subscription_id', '=', 'd.subscription_id')
        .on('q.company_id', '=', companyId)
        .on('q.consecutive_failures', '>=', failuresUntilProbing),
    )
    .selectAll('d')
    .select(['s.name', 's.url', 's.enabled'])
    .select(sql<Date | null>`IF(s.enabled, q.probe_due_utc, NULL)`.as('next_probe_utc'))
    .where('d.company_id', '=', companyId);

/** All deliveries of an event to a subscription: the original, then those of replays. */
export const readSiblings = (
  db: Kysely<Tables>,
  companyId: number,
  { eventId, subscriptionId }: Pick<DeliveryIds, 'eventId' | 'subscriptionId'>,
): Promise<readonly DeliveryRecord[]> =>
  selectDeliveries(db, companyId)
    .where('d.event_id', '=', eventId)
    .where('d.subscription_id', '=', subscriptionId)
    .orderBy('d.replay_id')
    .limit(maxSiblings)
    .execute();

/** @throws Problem `not_found` */
export const oneOf = (siblings: readonly DeliveryRecord[], { replayId }: DeliveryIds): DeliveryRecord => {
  const one = siblings.find(({ replay_id }) => replay_id === replayId);
  if (!one) throw notFound('delivery');
  return one;
};

/** As an API key sees it. */
export const keyDeliveryAnswer = (row: DeliveryRow) => ({
  id: `${row.event_id}-${row.subscription_id}-${row.replay_id}`,
  eventId: row.event_id,
  subscriptionId: row.subscription_id,
  replayId: row.replay_id,
  eventType: row.event_type,
  eventCreatedUtc: row.created_utc,
  state: row.state,
  attempts: row.attempts,
  dueUtc: row.due_utc,
  lastStatusCode: row.last_status,
  lastErrorClass: row.last_error,
  updatedUtc: row.updated_utc,
});

export const deliveryAnswer = (row: DeliveryRecord) => ({
  ...keyDeliveryAnswer(row),
  subscription:
    row.url === null
      ? null
      : {
          name: row.name,
          url: row.url,
          enabled: row.enabled === 1,
          nextProbeUtc: row.next_probe_utc,
        },
});

const maxSiblings = 100;
