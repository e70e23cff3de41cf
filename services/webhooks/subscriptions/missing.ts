import { type DeliveryRow, eventsAtOnce, eventsMeeting, sizeFor } from '@causeway/deliveries';
import { contract, invalidField } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import { lastSequence } from '../events/read.ts';
import type { Tables } from '../tables.ts';
import { readSubscription, type SubscriptionRecord } from './record.ts';

/** Contract, "Deliveries". The log has the order of commits, so nothing is added below the last sequence. */
export const listMissingEvents = ({ db, cursors, now }: WebhooksContext) =>
  handler(contract.listMissingEvents, async (call) => {
    const { companyId, query } = call;
    const { limit, cursor } = query;
    const subscription = await readSubscription(db, companyId, call.id('subscription'));
    const since = query.since ?? subscription.created_utc;
    const filter = [subscription.subscription_id, since.getTime()];
    // A minute for clocks that differ.
    if (since.getTime() > now().getTime() + 60_000)
      throw invalidField('since', 'out_of_range', 'since must not be in the future');
    const [after = 0, ...others] = cursor ? await cursors.open(companyId, 'missing', cursor) : [0, ...filter];
    if (others.join() !== filter.join())
      throw invalidField('cursor', 'must_agree', 'invalid cursor: it belongs to another since');
    const { deadlineMs } = call;
    const page = { since, after, limit, deadlineMs };
    const { missing, position, hasMore } = await readPage(db, subscription, page);
    return json(200, {
      missing,
      throughSequence: position,
      ...(await cursors.pageEnd(companyId, 'missing', hasMore ? [position, ...filter] : undefined)),
    });
  });

interface Wanted {
  readonly since: Date;
  readonly after: number;
  readonly limit: number;
  readonly deadlineMs: number;
}

/** Looks at the log chunk by chunk, until the page is full or the time is up. */
const readPage = async (
  db: Kysely<Tables>,
  subscription: SubscriptionRecord,
  { since, after, limit, deadlineMs }: Wanted,
) => {
  const stopMs = performance.now() + maxSearchMs;
  const { company_id, conditions } = subscription;
  const last = await lastSequence(db, company_id);
  const missing: ReturnType<typeof missingAnswer>[] = [];
  for (let at = after; ; ) {
    const events = await readEvents(db, subscription, { since, after: at, until: last });
    const deliveries = await readDeliveries(db, subscription, events);
    const open = events.filter(
      ({ event_id }) => !deliveries.get(event_id)?.some(({ state }) => state === 'succeeded'),
    );
    const { met, examined } = await eventsMeeting(db, company_id, conditions, open, {
      most: limit - missing.length,
      stopMs,
      deadlineMs,
    });
    for (const event of met) {
      missing.push(missingAnswer(event, deliveries.get(event.event_id)?.at(-1)));
      if (missing.length === limit) return { missing, position: event.position, hasMore: true };
    }
    if (examined < open.length) return { missing, position: open[examined - 1]!.position, hasMore: true };
    at = events.at(-1)?.position ?? at;
    if (events.length < eventsAtOnce(conditions))
      return { missing, position: Math.max(at, last), hasMore: false };
    if (performance.now() > stopMs) return { missing, position: at, hasMore: true };
  }
};

const maxSearchMs = 1_000;

const readEvents = (
  db: Kysely<Tables>,
  { company_id, event_types, conditions }: SubscriptionRecord,
  { since, after, until }: { readonly since: Date; readonly after: number; readonly until: number },
) =>
  db
    .selectFrom('events as e')
    .modifyFront(sql`/*+ INDEX(e PRIMARY) */`)
    .select(['e.event_id', 'e.type', 'e.created_utc', 'e.sequence as position'])
    .select(sizeFor(conditions).as('bytes'))
    .where('e.company_id', '=', company_id)
    .where('e.sequence', '>', after)
    .where('e.sequence', '<=', until)
    .where('e.created_utc', '>=', since)
    .where('e.type', 'in', event_types)
    .orderBy('e.sequence')
    .limit(eventsAtOnce(conditions))
    .execute();

type LoggedEvent = Awaited<ReturnType<typeof readEvents>>[number];
type OwnDelivery = Pick<DeliveryRow, 'event_id' | 'replay_id' | 'state' | 'attempts'>;

/** By event, the last one last. */
const readDeliveries = async (
  db: Kysely<Tables>,
  { company_id, subscription_id }: SubscriptionRecord,
  events: readonly LoggedEvent[],
): Promise<ReadonlyMap<number, readonly OwnDelivery[]>> => {
  if (events.length === 0) return new Map();
  const times = events.map(({ created_utc }) => created_utc.getTime());
  const rows = await db
    .selectFrom('deliveries as d')
    .modifyFront(sql`/*+ INDEX(d PRIMARY) */`)
    .select(['d.event_id', 'd.replay_id', 'd.state', 'd.attempts'])
    .where('d.company_id', '=', company_id)
    .where('d.subscription_id', '=', subscription_id)
    .where(
      'd.event_id',
      'in',
      events.map(({ event_id }) => event_id),
    )
    // The time range limits the query to the partitions of these days.
    .where('d.created_utc', '>=', new Date(Math.min(...times)))
    .where('d.created_utc', '<=', new Date(Math.max(...times)))
    .orderBy('d.event_id')
    .orderBy('d.replay_id')
    .execute();
  return Map.groupBy(rows, ({ event_id }) => event_id);
};

const missingAnswer = (event: LoggedEvent, delivery: OwnDelivery | undefined) => ({
  eventId: event.event_id,
  eventType: event.type,
  eventCreatedUtc: event.created_utc,
  sequence: event.position,
  state: delivery?.state ?? null,
  attempts: delivery?.attempts ?? 0,
});
