import { testReceiver } from '@causeway/runtime/testing';
import { beforeAll, expect, test } from 'vitest';
import { openWorld, type World } from './testing/boot.ts';

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
