import { setTimeout as sleep } from 'node:timers/promises';
import { sequenceHeader } from '@causeway/proto';
import { testReceiver } from '@causeway/runtime/testing';
import { beforeAll, expect, test } from 'vitest';
import { openWorld, origin, type World } from './testing/boot.ts';

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

test('a thousand deliveries arrive once each, by either path', async () => {
  await world.start();
  const receiver = await testReceiver();
  const [woken, queued] = [await world.subscribe(receiver.url), await world.subscribe(receiver.url)];
  const keys = [...(await world.deliver(woken, 600)), ...(await world.deliver(queued, 400, { by: 'queue' }))];
  await expect.poll(() => receiver.received.length).toBe(keys.length);
  // Time for a duplicate to arrive.
  await sleep(300);
  expect(receiver.received.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
    keys.map((key) => key.event_id),
  );
  for (const subscription of [woken, queued])
    await expect
      .poll(async () => new Set((await world.deliveries(subscription)).map(({ state }) => state)))
      .toEqual(new Set(['succeeded']));
});
