import type { ServerResponse } from 'node:http';
import { sequenceHeader } from '@causeway/proto';
import { type Receiver, testReceiver } from '@causeway/runtime/testing';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openWorld, origin, type Subscription, type World } from './testing/boot.ts';
import { startFanOut } from './testing/start-fan-out.ts';

let world: World;
let receiver: Receiver;
let subscription: Subscription;
beforeEach(async () => {
  world = await openWorld();
  receiver = await testReceiver();
  subscription = await world.subscribe(receiver.url);
});

/** Signing threads are ready, so that no attempt waits for them. */
const startWarm = async (options: Parameters<World['start']>[0]): Promise<void> => {
  await world.start(options);
  const other = await world.subscribe((await testReceiver()).url);
  await world.deliver(other, 1);
  await expect.poll(() => world.deliveries(other)).toMatchObject([{ state: 'succeeded' }]);
};

const outbox = async (): Promise<number> =>
  (await world.database.query('SELECT event_id FROM event_outbox')).length;

test('an announced event leaves the outbox when all its deliveries are recorded', async () => {
  await world.start({ timeoutMs: 10_000 });
  await world.deliver(subscription, 200);
  await expect.poll(outbox).toBe(0);
  // A delivery that found no room has a row, and waits in its queue.
  expect(await world.deliveries(subscription)).toHaveLength(200);
  await expect
    .poll(() => world.deliveries(subscription))
    .toMatchObject(Array(200).fill({ state: 'succeeded', attempts: 1 }));
  expect(receiver.received).toHaveLength(200);
});

test('a slow first attempt gets a row as waiting, and its event leaves the outbox meanwhile', async () => {
  receiver.answer = () => {};
  await startWarm({ timeoutMs: 5_000, scheduleMs: [60_000] });
  const [key] = await world.deliver(subscription, 1);
  await expect
    .poll(() => world.deliveries(subscription))
    .toMatchObject([{ event_id: key!.event_id, state: 'waiting', attempts: 0, due_utc: expect.any(Date) }]);
  await expect.poll(outbox).toBe(0);
  expect(receiver.received).toHaveLength(1);
  await expect
    .poll(() => world.deliveries(subscription))
    .toMatchObject([{ state: 'waiting', attempts: 1, last_error: 'timeout' }]);
});

test('a slow success counts as a success, although its row was written before', async () => {
  const held: ServerResponse[] = [];
  receiver.answer = (response) => held.push(response);
  await world.start({ timeoutMs: 60_000, leaseMs: 120_000 });
  await world.deliver(subscription, 3);
  await expect
    .poll(() => world.deliveries(subscription))
    .toMatchObject(Array(3).fill({ state: 'waiting', attempts: 0 }));
  receiver.answer = (response) => response.end();
  for (const response of held) response.end();
  await expect
    .poll(() => world.deliveries(subscription))
    .toMatchObject(Array(3).fill({ state: 'succeeded', attempts: 1, last_status: 200, due_utc: null }));
});

test('an event whose subscription was deleted leaves the outbox without a delivery', async () => {
  await world.database.query('DELETE FROM subscriptions');
  await world.start();
  await world.deliver(subscription, 2);
  await expect.poll(outbox).toBe(0);
  expect(await world.deliveries(subscription)).toEqual([]);
  expect(receiver.received).toEqual([]);
});

test('a failure for a subscription that was deleted meanwhile leaves no waiting delivery', async () => {
  receiver.answer = async (response) => {
    await world.database.query('DELETE FROM subscriptions');
    await world.database.query('DELETE FROM delivery_queues');
    response.writeHead(500).end();
  };
  await startWarm({});
  await world.deliver(subscription, 1);
  await expect.poll(outbox).toBe(0);
  expect(await world.deliveries(subscription)).toEqual([]);
  expect(await world.attempts(subscription)).toMatchObject([{ status_code: 500 }]);
});

test('a company with a long outbox after an outage delays another by one sweep', async () => {
  const other = await world.subscribe(receiver.url);
  await world.deliver(subscription, 1_400, { by: 'outbox' });
  await world.deliver(other, 1, { by: 'outbox' });
  await world.database.query('UPDATE event_outbox SET leased_until = NOW(3) - INTERVAL 1 SECOND');
  startFanOut(world.database);
  await expect.poll(outbox).toBe(0);
  const [earlier] = await world.database.query<{ count: number }>(
    `SELECT COUNT(*) AS count FROM deliveries WHERE company_id = ? AND updated_utc <
       (SELECT MIN(updated_utc) FROM deliveries WHERE company_id = ?)`,
    [subscription.company_id, other.company_id],
  );
  expect(earlier!.count).toBeLessThanOrEqual(500);
});

describe('A delivery', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });

  test('every delivery says who caused its event, and which number of which subscription it is', async () => {
    await world.start({ scheduleMs: [50] });
    const receiver = await testReceiver();
    receiver.answer = (response, { attempt }) => response.writeHead(attempt === 1 ? 500 : 200).end();
    const subscription = await world.subscribe(receiver.url);
    const keys = [
      ...(await world.deliver(subscription, 1)),
      ...(await world.deliver(subscription, 1, { by: 'outbox' })),
      ...(await world.deliver(subscription, 1, { by: 'queue', replayId: 7 })),
      ...(await world.deliver(subscription, 1, { without: sequenceHeader })),
    ];
    await expect.poll(() => receiver.received.length).toBe(2 * keys.length);
    for (const { event_id } of keys)
      for (const { headers } of receiver.received.filter(({ id }) => Number(id) === event_id))
        expect(headers).toMatchObject({
          'x-webhook-origin': origin,
          // The world numbers events as it names them.
          'x-webhook-sequence': `${event_id}`,
          'x-webhook-subscription': `${subscription.subscription_id}`,
        });
  });
});

describe('A failing queue', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });

  test('The portal’s count of failed attempts includes those that do not count as consecutive failures', async () => {
    await world.start({ scheduleMs: [600_000], probeIntervalMs: 600_000 });
    const receiver = await testReceiver();
    receiver.answer = (response) => void setTimeout(() => response.writeHead(500).end(), 300);
    const subscription = await world.subscribe(receiver.url);
    await world.deliver(subscription, 12);
    const queue = async () =>
      (
        await world.database.query<{ consecutive_failures: number; failed_attempts: number }>(
          'SELECT consecutive_failures, failed_attempts FROM delivery_queues WHERE subscription_id = ?',
          [subscription.subscription_id],
        )
      )[0]!;
    await expect.poll(async () => (await queue()).consecutive_failures).toBeGreaterThanOrEqual(5);
    await expect.poll(async () => (await queue()).failed_attempts).toBe(receiver.received.length);
  });
});
