import { testReceiver } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { openWorld } from '../testing/boot.ts';

test('a receiver that works on one request at a time gets nothing twice from two dispatchers', async () => {
  const world = await openWorld();
  for (let count = 0; count < 2; count++) await world.start({ timeoutMs: 4_000 });
  const receiver = await testReceiver();
  let turn = Promise.resolve();
  receiver.answer = (response) => {
    turn = turn.then(() => new Promise((resolve) => setTimeout(resolve, 250)));
    void turn.then(() => response.end());
  };
  const subscription = await world.subscribe(receiver.url);
  // All at once, the last would be answered after the timeout.
  await world.deliver(subscription, 12);
  await world.deliver(subscription, 12, { by: 'queue' });
  await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 24 });
  expect(receiver.received).toHaveLength(24);
  expect((await world.attempts(subscription)).every(({ attempt }) => attempt === 1)).toBe(true);
});
