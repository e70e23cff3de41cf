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
