import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { testReceiver } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { openWorld } from './testing/boot.ts';

test('a hanging receiver with thousands of waiting deliveries, and a failing one, delay no other', async () => {
  const world = await openWorld();
  await world.start({ slots: 64, timeoutMs: 300_000, leaseMs: 900_000, scheduleMs: Array(10).fill(500) });
  const [hanging, failing, healthy] = [await testReceiver(), await testReceiver(), await testReceiver()];
  hanging.answer = () => {};
  failing.answer = (response) => response.writeHead(500).end();
  const bad = [await world.subscribe(hanging.url), await world.subscribe(failing.url)];
  await world.deliver(bad[0]!, 5_000, { by: 'queue' });
  await world.deliver(bad[0]!, 500);
  await world.deliver(bad[1]!, 500);
  const good = await world.subscribe(healthy.url);
  for (let round = 0; round < 100; round++) {
    await world.deliver(good, 2, { by: round % 2 ? 'event' : 'queue' });
    if (round % 10 === 0) await world.deliver(bad[0]!, 20);
    await sleep(20);
  }
  // A delivery behind the hanging receiver would wait for its deadline of five minutes.
  await expect.poll(() => healthy.received.length).toBe(200);
  expect(hanging.mostAtATime).toBeLessThanOrEqual(4);
});

test('a flood of retries leaves first attempts their slots', async () => {
  const world = await openWorld();
  await world.start({ slots: 32, timeoutMs: 20_000 });
  const held: ServerResponse[] = [];
  const slow = await testReceiver();
  slow.answer = (response) => held.push(response);
  for (let at = 0; at < 30; at++) {
    const subscription = await world.subscribe(slow.url);
    await world.deliver(subscription, 40, { by: 'queue' });
  }
  await expect.poll(() => held.length).toBe(16);
  const quick = await testReceiver();
  const subscription = await world.subscribe(quick.url);
  for (let round = 1; round <= 20; round++) {
    await world.deliver(subscription, 1);
    await expect.poll(() => quick.received.length).toBe(round);
  }
  // No retry ended, so each first attempt had a slot that no retry may have.
  expect(held.length).toBe(16);
  slow.answer = (response) => response.end();
  for (const response of held) response.end();
});

test('one company’s hundreds of slow subscriptions with a backlog delay no other company’s retry', async () => {
  const world = await openWorld();
  const [slow, other] = [await testReceiver(), await testReceiver()];
  slow.answer = (response) => void setTimeout(() => response.end(), 500);
  const first = await world.subscribe(slow.url);
  const many = [first];
  while (many.length < 200) many.push(await world.subscribe(slow.url, { company_id: first.company_id }));
  for (const subscription of many) await world.deliver(subscription, 5, { by: 'queue' });
  const { drain } = await world.start({ slots: 16, timeoutMs: 20_000, scheduleMs: [200], random: () => 0.5 });
  await expect.poll(() => slow.received.length).toBeGreaterThan(8);

  other.answer = (response, { attempt }) => response.writeHead(attempt === 1 ? 500 : 200).end();
  const subscription = await world.subscribe(other.url);
  for (const by of ['event', 'queue'] as const) {
    const before = slow.received.length;
    await world.deliver(subscription, 1, { by });
    await expect.poll(async () => (await world.deliveries(subscription)).at(-1)!.state).toBe('succeeded');
    // 990 deliveries were due earlier. The attempts begun meanwhile are those of a few turns.
    expect(slow.received.length - before).toBeLessThan(300);
  }
  // A company alone has half of the places for deliveries from queues.
  expect(slow.mostAtATime).toBeLessThanOrEqual(4);
  // The company's subscriptions take turns: none got all of its five before the others had one.
  const attempts = await world.database.query<{ n: number }>(
    'SELECT COUNT(*) AS n FROM delivery_attempts WHERE company_id = ? GROUP BY subscription_id',
    [first.company_id],
  );
  expect(Math.max(...attempts.map(({ n }) => n))).toBeLessThanOrEqual(Math.max(4, attempts.length / 10));
  await drain();
});

test('a host gets no more concurrent attempts than its limit, over all companies', async () => {
  const world = await openWorld();
  const { drain } = await world.start({ maxPerHost: 6 });
  const receiver = await testReceiver();
  receiver.answer = (response) => void setTimeout(() => response.end(), 30);
  const subscriptions = await Promise.all([1, 2, 3, 4, 5].map(() => world.subscribe(receiver.url)));
  await Promise.all(
    subscriptions.map((subscription, at) =>
      world.deliver(subscription, 20, { by: at % 2 ? 'event' : 'queue' }),
    ),
  );
  await expect.poll(() => receiver.received.length).toBe(100);
  expect(receiver.mostAtATime).toBeLessThanOrEqual(6);
  await drain();
});
