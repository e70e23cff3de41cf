import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually, openWorld } from './testing/boot.ts';
import { startReceiver } from './testing/receiver.ts';

test('a receiver that hangs with thousands waiting, and one that fails, delay no other', async () => {
  const world = await openWorld();
  await world.start({ slots: 64, timeoutMs: 3_000, scheduleMs: Array(10).fill(500) });
  const [hanging, failing, healthy] = [await startReceiver(), await startReceiver(), await startReceiver()];
  hanging.answer = () => {};
  failing.answer = (response) => response.writeHead(500).end();
  const bad = [await world.subscribe(hanging.url), await world.subscribe(failing.url)];
  await world.deliver(bad[0]!, 5_000, { by: 'queue' });
  await world.deliver(bad[0]!, 500);
  await world.deliver(bad[1]!, 500);
  const good = await world.subscribe(healthy.url);
  const sentMs = new Map<number, number>();
  for (let round = 0; round < 100; round++) {
    const atMs = Date.now();
    const keys = await world.deliver(good, 2, { by: round % 2 ? 'wake' : 'queue' });
    for (const { event_id } of keys) sentMs.set(event_id, atMs);
    if (round % 10 === 0) await world.deliver(bad[0]!, 20);
    await sleep(20);
  }
  await eventually(() => healthy.received.length).toBe(200);
  const lateMs = healthy.received.map(({ id, atMs }) => atMs - sentMs.get(id)!).sort((a, b) => a - b);
  expect(lateMs[Math.floor(lateMs.length * 0.95)]).toBeLessThan(500);
  expect(lateMs.at(-1)).toBeLessThan(1_500);
  // The hanging one had what a first window takes, and its one at a time once it failed.
  expect(hanging.mostAtATime).toBeLessThanOrEqual(4);
});

test('a flood of retries leaves first attempts their slots', async () => {
  const world = await openWorld();
  await world.start({ slots: 32, timeoutMs: 3_000 });
  const slow = await startReceiver();
  slow.answer = (response) => void setTimeout(() => response.end(), 400);
  for (let at = 0; at < 30; at++) {
    const subscription = await world.subscribe(slow.url);
    await world.deliver(subscription, 40, { by: 'queue' });
  }
  await eventually(() => slow.received.length).toBeGreaterThan(20);
  const quick = await startReceiver();
  const subscription = await world.subscribe(quick.url);
  for (let round = 0; round < 20; round++) {
    const before = quick.received.length;
    const atMs = Date.now();
    await world.deliver(subscription, 1);
    await eventually(() => quick.received.length).toBe(before + 1);
    expect(quick.received.at(-1)!.atMs - atMs).toBeLessThan(250);
  }
  expect(slow.mostAtATime).toBeLessThanOrEqual(16);
  expect(slow.received.length).toBeLessThan(1_200);
});
