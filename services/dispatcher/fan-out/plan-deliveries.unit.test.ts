import type { EventType } from '@causeway/proto';
import { expect, test } from 'vitest';
import { maxDeliveries, planDeliveries } from './fan-out-events.ts';

const now = new Date('2026-01-15T08:00:00Z');
const eventOf = (event_id: number, type: EventType | null = 'lead.created', company_id = 1) => ({
  company_id,
  event_id,
  created_utc: now,
  type,
});
const subscriptionOf = (
  subscription_id: number,
  event_types: readonly EventType[] = ['lead.created'],
  company_id = 1,
) => ({ company_id, subscription_id, event_types, conditions: null });

test('an event gets a delivery, due now, for each subscription of its company that wants its type', () => {
  const subscriptions = [
    subscriptionOf(1),
    subscriptionOf(2, ['client.created', 'lead.created']),
    subscriptionOf(3, ['client.created']),
    subscriptionOf(4, ['lead.created'], 2),
  ];
  const events = [eventOf(10), eventOf(11, 'client.created'), eventOf(12, 'payment.failed')];
  const { deliveries, done, left } = planDeliveries(events, subscriptions, now);
  expect(deliveries.map((one) => [one.event_id, one.subscription_id, one.event_type])).toEqual([
    [10, 1, 'lead.created'],
    [10, 2, 'lead.created'],
    [11, 2, 'client.created'],
    [11, 3, 'client.created'],
  ]);
  for (const one of deliveries) expect(one).toMatchObject({ company_id: 1, leaseMs: now.getTime() });
  expect([done, left]).toEqual([events, []]);
});

test('an event that retention has removed is done without a delivery', () => {
  const events = [eventOf(10, null)];
  expect(planDeliveries(events, [subscriptionOf(1)], now)).toEqual({
    deliveries: [],
    done: events,
    left: [],
  });
});

test('a transaction writes a bounded number of rows, but at least one event', () => {
  const half = Array.from({ length: maxDeliveries / 2 }, (_, at) => subscriptionOf(at));
  const three = [eventOf(10), eventOf(11), eventOf(12)];
  const plan = planDeliveries(three, half, now);
  expect([plan.deliveries.length, plan.done, plan.left]).toEqual([
    maxDeliveries,
    three.slice(0, 2),
    three.slice(2),
  ]);
  const many = Array.from({ length: maxDeliveries + 1 }, (_, at) => subscriptionOf(at));
  expect(planDeliveries(three, many, now).done).toEqual(three.slice(0, 1));
});

test('what does not meet its conditions makes no delivery, and events whose payloads are not read yet are left', () => {
  const events = [eventOf(10), eventOf(11), eventOf(12)];
  const plan = planDeliveries(events, [subscriptionOf(1), subscriptionOf(2)], now, {
    unmet: new Set(['10-1']),
    later: new Set([11]),
  });
  expect(plan.deliveries.map((one) => [one.event_id, one.subscription_id])).toEqual([[10, 2]]);
  expect([plan.done, plan.left]).toEqual([events.slice(0, 1), events.slice(1)]);
});
