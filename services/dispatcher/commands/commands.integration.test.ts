import type { ServerResponse } from 'node:http';
import type { DeliveryKey } from '@causeway/deliveries';
import { type DeliveryCommand, deliveryCommandSubject } from '@causeway/proto';
import { type Receiver, testReceiver } from '@causeway/runtime/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Tables, tenantTables } from '../tables.ts';
import { openWorld, type Subscription, type World } from '../testing/boot.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});

const resend = async ({ company_id, event_id, subscription_id }: DeliveryKey): Promise<number> => {
  const now = new Date();
  const row = { company_id, subscription_id, kind: 'resend', total: 1, created_utc: now, next_page_utc: now };
  await world.database.query('INSERT INTO replays SET ?', [
    { ...row, filter: JSON.stringify({ eventId: event_id }) },
  ]);
  const [{ id } = { id: 0 }] = await world.database.query<{ id: number }>(
    'SELECT MAX(replay_id) AS id FROM replays WHERE company_id = ?',
    [company_id],
  );
  return id;
};
const ask = (command: DeliveryCommand) =>
  world.bus.nc.request(deliveryCommandSubject, JSON.stringify(command), { timeout: 60_000 });
const replayOf = async (id: number) =>
  (await world.database.query('SELECT * FROM replays WHERE replay_id = ?', [id]))[0];
const statesOf = async (subscription: Subscription) =>
  (await world.deliveries(subscription)).map(({ state }) => state);

test('A resend whose request got lost is found, and two dispatchers make it once', async () => {
  await Promise.all([world.start(), world.start()]);
  const receiver = await testReceiver();
  const subscription = await world.subscribe(receiver.url);
  const [key] = await world.deliver(subscription, 1);
  await expect.poll(() => statesOf(subscription)).toEqual(['succeeded']);
  const replayId = await resend(key!);
  await expect.poll(() => replayOf(replayId)).toMatchObject({ state: 'done', made: 1, succeeded: 1 });
  expect(receiver.received).toHaveLength(2);
});

test('The delivery of a resend is held if its subscription was disabled meanwhile', async () => {
  await world.start();
  const receiver = await testReceiver();
  const subscription = await world.subscribe(receiver.url);
  const [key] = await world.deliver(subscription, 1);
  await expect.poll(() => statesOf(subscription)).toEqual(['succeeded']);
  await world.database.query('UPDATE subscriptions SET enabled = 0 WHERE subscription_id = ?', [
    subscription.subscription_id,
  ]);
  await resend(key!);
  await expect.poll(() => statesOf(subscription)).toEqual(['succeeded', 'held']);
  expect(receiver.received).toHaveLength(1);
});

test('Failures from before the enabling do not disable a subscription again', async () => {
  const receiver = await testReceiver();
  receiver.answer = (response) => response.writeHead(500).end();
  const subscription = await world.subscribe(receiver.url);
  const ids = [subscription.company_id, subscription.subscription_id];
  await world.database.query(
    'UPDATE delivery_queues SET consecutive_failures = 20 WHERE company_id = ? AND subscription_id = ?',
    ids,
  );
  // Locked, so that no dispatcher applies it.
  const patient = world.database.connect<Tables>({ tenantTables, session: { idleTimeoutS: 180 } });
  const slow = await patient.startTransaction().execute();
  await world.database.query(
    'INSERT INTO subscription_changes (company_id, subscription_id, changed_utc, resets_failures) VALUES (?, ?, NOW(3), 1)',
    ids,
  );
  await slow
    .selectFrom('subscription_changes')
    .selectAll()
    .where('company_id', '=', subscription.company_id)
    .forUpdate()
    .execute();
  await world.start();
  await world.deliver(subscription, 1, { by: 'queue' });
  await expect.poll(() => world.attempts(subscription)).toHaveLength(1);
  expect(await world.subscription(subscription)).toMatchObject({ enabled: 1 });
  await slow.rollback().execute();
  await expect.poll(async () => (await world.queue(subscription))!.consecutive_failures).toBeLessThan(5);
  expect(await world.subscription(subscription)).toMatchObject({ enabled: 1 });
});

test('A failing subscription that gets another URL is probed at once', async () => {
  const { drain } = await world.start({ probeIntervalMs: 600_000 });
  const [broken, working] = [await testReceiver(), await testReceiver()];
  broken.answer = (response) => response.writeHead(500).end();
  const subscription = await world.subscribe(broken.url);
  await world.deliver(subscription, 12);
  await expect.poll(async () => (await world.queue(subscription))!.consecutive_failures).toBe(5);
  await world.deliver(subscription, 3, { by: 'queue' });
  const ids = [subscription.company_id, subscription.subscription_id];
  await world.database.query(
    'UPDATE subscriptions SET url = ? WHERE company_id = ? AND subscription_id = ?',
    [working.url, ...ids],
  );
  await world.database.query(
    'INSERT INTO subscription_changes (company_id, subscription_id, changed_utc) VALUES (?, ?, NOW(3))',
    ids,
  );
  await expect.poll(() => working.received.length).toBeGreaterThanOrEqual(3);
  expect(broken.received.length).toBeLessThanOrEqual(12);
  await drain();
});

describe('Another URL begins at zero failures, and an attempt under way at the former one counts for nothing', () => {
  const change = async (
    failures: number,
    answer: (response: ServerResponse) => void,
  ): Promise<{ subscription: Subscription; arrived: Receiver }> => {
    const [former, arrived] = [await testReceiver(), await testReceiver()];
    const open: ServerResponse[] = [];
    former.answer = (response) => void open.push(response);
    const subscription = await world.subscribe(former.url);
    const ids = [subscription.company_id, subscription.subscription_id];
    await world.database.query(
      'UPDATE delivery_queues SET consecutive_failures = ? WHERE company_id = ? AND subscription_id = ?',
      [failures, ...ids],
    );
    // As many retries as it gets: this is the last attempt.
    const [key] = await world.deliver(subscription, 1, { by: 'queue' });
    await world.database.query('UPDATE deliveries SET attempts = 1 WHERE event_id = ?', [key!.event_id]);
    const dispatchers = [
      await world.start({ scheduleMs: [60_000] }),
      await world.start({ scheduleMs: [60_000] }),
    ];
    await expect.poll(() => open.length).toBe(1);
    await world.database.query(
      'UPDATE subscriptions SET url = ? WHERE company_id = ? AND subscription_id = ?',
      [arrived.url, ...ids],
    );
    await world.database.query(
      'INSERT INTO subscription_changes (company_id, subscription_id, changed_utc, resets_failures) VALUES (?, ?, NOW(3), 1)',
      ids,
    );
    // What comes meanwhile does not wait for the former receiver.
    await world.deliver(subscription, 3);
    await world.deliver(subscription, 3, { by: 'queue' });
    await expect.poll(() => arrived.received.length).toBe(6);
    answer(open[0]!);
    await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 7 });
    expect(await world.subscription(subscription)).toMatchObject({ enabled: 1 });
    expect(await world.queue(subscription)).toMatchObject({ consecutive_failures: 0 });
    for (const { drain } of dispatchers) await drain();
    return { subscription, arrived };
  };

  test.each([4, 19])('after %i failures', async (failures) => {
    const { subscription } = await change(failures, (response) =>
      response.writeHead(503, { 'retry-after': '3600' }).end(),
    );
    expect(await world.attempts(subscription)).toContainEqual(expect.objectContaining({ status_code: 503 }));
  });

  test('also a 410', async () => {
    await change(0, (response) => response.writeHead(410).end());
  });

  test('and a success there ends no failing of the new receiver', async () => {
    const { subscription, arrived } = await change(19, (response) => response.writeHead(200).end());
    expect(arrived.received).toHaveLength(6);
    expect(await world.attempts(subscription)).toHaveLength(7);
  });
});

test('A subscription whose queue was not made yet loses no retry', async () => {
  await world.start({ scheduleMs: [50] });
  const receiver = await testReceiver();
  receiver.answer = (response) => response.writeHead(receiver.received.length > 1 ? 200 : 500).end();
  const subscription = await world.subscribe(receiver.url);
  await world.database.query('DELETE FROM delivery_queues WHERE subscription_id = ?', [
    subscription.subscription_id,
  ]);
  await world.deliver(subscription, 1);
  await expect
    .poll(() => world.deliveries(subscription))
    .toMatchObject([{ state: 'succeeded', attempts: 2 }]);
});

test('A request that names no due command is answered too', async () => {
  await world.start();
  expect((await ask({ companyId: 1, replayId: 999_999 })).data).toHaveLength(0);
});
