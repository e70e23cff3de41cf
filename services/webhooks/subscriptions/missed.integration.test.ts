import type { DeliveryRow } from '@causeway/deliveries';
import { transaction } from '@causeway/runtime';
import { beforeEach, expect, test } from 'vitest';
import { defaultQuotas } from '../context.ts';
import { commitEvents, makeSubscription, startFanOut } from '../testing/events.ts';
import { makeDelivery, makeEvents } from '../testing/make.ts';
import { type BootedPortal, bootPortal } from '../testing/portal.ts';
import { noteMissedWhileOff } from './missed.ts';

const company = 6101;
const quota = 10;
let webhooks: BootedPortal;
let subscription: number;

beforeEach(async () => {
  webhooks = await bootPortal({ quotas: { ...defaultQuotas, waitingDeliveries: quota } });
  startFanOut(webhooks.database, quota);
  // Its receiver fails, so its deliveries wait in its queue.
  subscription = await makeSubscription(webhooks.db, company, { consecutive_failures: 5 });
});

const waiting = () =>
  webhooks.database.query<DeliveryRow>("SELECT * FROM deliveries WHERE state = 'waiting' ORDER BY event_id");
/** A few at a time, until all is done. The quota is never exceeded. */
const endWaiting = async (isDone: (count: number) => Promise<boolean>) => {
  let most = 0;
  const endSome = async () => {
    const rows = await waiting();
    most = Math.max(most, rows.length);
    for (const one of rows.slice(0, 4)) await webhooks.end(one, 'succeeded');
    return isDone(rows.length);
  };
  await expect.poll(endSome, { message: 'all have ended' }).toBe(true);
  expect(most).toBeLessThanOrEqual(quota);
};
const shown = async () =>
  (await webhooks.portal('getPortalSubscription', company, { params: [subscription] })).body;
const publish = async (count: number) => {
  const events = await commitEvents(
    webhooks.db,
    company,
    Array.from({ length: count }, () => ({})),
  );
  await expect
    .poll(async () => (await webhooks.database.query('SELECT * FROM event_outbox')).length === 0, {
      message: 'an empty outbox',
    })
    .toBe(true);
  return events;
};

test('Events beyond the quota of waiting deliveries are counted as missed, and replayed as room is made', async () => {
  const events = await publish(25);
  expect(await waiting()).toHaveLength(quota);
  const { missed } = await shown();
  expect(missed).toEqual({ count: 15, sinceUtc: expect.any(String) });
  const body = { subscriptionId: subscription, kind: 'missed', since: missed.sinceUtc };
  expect((await webhooks.portal('previewReplay', company, { body })).body.count).toBe(15);
  const created = await webhooks.portal('createReplay', company, { body });
  expect(created.status).toBe(201);
  expect((await shown()).missed).toBeNull();
  const replay = async () =>
    (await webhooks.portal('getReplay', company, { params: [created.body.id] })).body;
  await endWaiting(async () => (await replay()).state === 'done');
  expect(await replay()).toMatchObject({ total: 15, made: 15, succeeded: 15 });
  const arrived = await webhooks.database.query<{ event_id: number }>(
    "SELECT DISTINCT event_id FROM deliveries WHERE state = 'succeeded' ORDER BY event_id",
  );
  expect(arrived.map(({ event_id }) => event_id)).toEqual(events.map(({ event_id }) => event_id));
});

test('The count of missed events goes back to zero when there is nothing left to replay', async () => {
  const sinceUtc = '2026-01-15T08:00:00.000Z';
  await webhooks.database.query('INSERT INTO missed_events SET ?', [
    { company_id: company, subscription_id: subscription, missed: 3, since_utc: new Date(sinceUtc) },
  ]);
  expect((await shown()).missed).toEqual({ count: 3, sinceUtc });
  const body = { subscriptionId: subscription, kind: 'missed', since: sinceUtc };
  const refused = await webhooks.portal('createReplay', company, { body });
  expect([refused.status, refused.body.error]).toEqual([409, 'there is nothing to replay']);
  expect((await shown()).missed).toBeNull();
});

test('Events that occurred while a subscription was disabled stay counted until they are replayed or dismissed', async () => {
  const switchTo = async (enabled: boolean) => {
    const body = { enabled };
    const answer = await webhooks.ask('updateSubscription', company, { params: [subscription], body });
    expect(answer.status).toBe(200);
  };
  const pause = async (events: number) => {
    await switchTo(false);
    if (events > 0) await publish(events);
    await switchTo(true);
  };
  await pause(0);
  expect((await shown()).missed).toBeNull();
  await pause(3);
  const { missed } = await shown();
  expect(missed).toMatchObject({ count: 3 });
  await pause(2);
  expect((await shown()).missed).toEqual({ ...missed, count: 5 });
  const body = { subscriptionId: subscription, kind: 'missed', since: missed.sinceUtc };
  expect((await webhooks.portal('previewReplay', company, { body })).body.count).toBe(5);
  const dismiss = (by = company) => webhooks.portal('dismissMissedEvents', by, { params: [subscription] });
  expect((await dismiss(company + 1)).status).toBe(404);
  expect((await shown()).missed).toMatchObject({ count: 5 });
  expect((await dismiss()).status).toBe(204);
  expect((await shown()).missed).toBeNull();
  expect((await dismiss()).status).toBe(204);
});

test('Two times off without a decision leave each event either held or missed', async () => {
  const switchTo = (enabled: boolean) =>
    webhooks.ask('updateSubscription', company, { params: [subscription], body: { enabled } });
  const [before] = await publish(1);
  await switchTo(false);
  const off = [...(await publish(2))];
  await switchTo(true);
  const [between] = await publish(1);
  await switchTo(false);
  off.push(...(await publish(1)));
  await switchTo(true);
  const held = () =>
    webhooks.database.query<DeliveryRow>("SELECT * FROM deliveries WHERE state = 'held' ORDER BY event_id");
  await expect.poll(() => held()).toHaveLength(2);
  expect((await held()).map(({ event_id }) => event_id)).toEqual([before!.event_id, between!.event_id]);
  const { missed } = await shown();
  expect(missed.count).toBe(3);

  const body = { subscriptionId: subscription, kind: 'missed', since: missed.sinceUtc };
  expect((await webhooks.portal('createReplay', company, { body })).body.total).toBe(3);
  expect((await webhooks.portal('releaseHeld', company, { params: [subscription] })).body.total).toBe(2);
  await expect.poll(() => waiting()).toHaveLength(5);
  const once = [before!, between!, ...off].map(({ event_id }) => event_id);
  expect((await waiting()).map(({ event_id }) => event_id)).toEqual(once.toSorted((a, b) => a - b));
});

test('Beyond its time, the count of events missed while off is a lower bound', async () => {
  const { db } = webhooks;
  const off = new Date(Date.now() - 1000);
  await makeEvents(
    db,
    company,
    Array.from({ length: 3_000 }, () => ({})),
  );
  const disabled = {
    company_id: company,
    subscription_id: subscription,
    event_types: ['client.created' as const],
    conditions: null,
    disabled_utc: off,
  };
  const counted = async (maxMs: number) => {
    await db.deleteFrom('missed_events').where('company_id', '=', company).execute();
    await transaction(db, (trx) => noteMissedWhileOff(trx, disabled, new Date(), maxMs));
    return (await shown()).missed.count;
  };
  expect(await counted(60_000)).toBe(3_000);
  // Only the events behind the place that the search from the end has reached.
  expect(await counted(0)).toBe(1_000);
});

test('Held deliveries do not count; releasing them goes on as room is made', async () => {
  await publish(quota);
  await makeDelivery(
    webhooks.db,
    { company_id: company, subscription_id: subscription, state: 'held', due_utc: null },
    15,
  );
  expect((await webhooks.ask('releaseHeldDeliveries', company, { params: [subscription] })).body).toEqual({
    count: 15,
  });
  await endWaiting(async (count) => (await shown()).heldDeliveries === 0 && count === 0);
});

test('A resend at the quota is refused', async () => {
  const [first] = await publish(quota);
  await webhooks.end((await waiting())[0]!, 'succeeded');
  await publish(1);
  const params = [first!.event_id, subscription, 0];
  const refused = await webhooks.portal('resendDelivery', company, { params });
  expect([refused.status, refused.body.error]).toEqual([
    409,
    'the company has reached its quota of pending deliveries; resend it when fewer are pending',
  ]);
  await webhooks.end((await waiting())[0]!, 'succeeded');
  expect((await webhooks.portal('resendDelivery', company, { params })).status).toBe(201);
});
