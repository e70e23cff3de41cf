import {
  type EventDelivery,
  eventsAtOnce,
  type LoggedEvent,
  readEventDeliveries,
  readLog,
  searchLog,
} from '@causeway/deliveries';
import { contract, invalidField } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { lastSequence } from '../events/read.ts';
import { readSubscription } from './record.ts';

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
    const last = await lastSequence(db, companyId);
    const range = {
      ...{ companyId, subscriptionId: subscription.subscription_id, since, through: last },
      ...{ types: subscription.event_types, conditions: subscription.conditions },
    };
    const look = async (from: number) => {
      const events = await readLog(db, range, from);
      const deliveries = await readEventDeliveries(db, range, events);
      const all = events.map((event) => ({ ...event, deliveries: deliveries.get(event.event_id) ?? [] }));
      return {
        events: all.filter((event) => !event.deliveries.some(({ state }) => state === 'succeeded')),
        position: events.at(-1)?.position ?? from,
        end: events.length < eventsAtOnce(range.conditions),
      };
    };
    const stopMs = performance.now() + maxSearchMs;
    const bounds = { after, limit, stopMs, deadlineMs: call.deadlineMs };
    const { found, position, end } = await searchLog(db, range, look, bounds);
    return json(200, {
      missing: found.map(missingAnswer),
      throughSequence: end ? Math.max(position, last) : position,
      ...(await cursors.pageEnd(companyId, 'missing', end ? undefined : [position, ...filter])),
    });
  });

const maxSearchMs = 1_000;

const missingAnswer = ({
  deliveries,
  ...event
}: LoggedEvent & { readonly deliveries: readonly EventDelivery[] }) => {
  const delivery = deliveries.at(-1);
  return {
    eventId: event.event_id,
    eventType: event.event_type,
    eventCreatedUtc: event.created_utc,
    sequence: event.position,
    state: delivery?.state ?? null,
    attempts: delivery?.attempts ?? 0,
  };
};
