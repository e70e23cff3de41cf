import { type Receiver, testReceiver } from '@causeway/runtime/testing';
import { beforeAll, expect, test } from 'vitest';
import { openWorld, type World } from './testing/boot.ts';

const quota = 10;
let world: World;
beforeAll(async () => {
  world = await openWorld();
});

const failingReceiver = async (): Promise<Receiver> => {
  const receiver = await testReceiver();
  receiver.answer = (response) => response.writeHead(500).end();
  return receiver;
};
const outbox = async (): Promise<number> =>
  (await world.database.query('SELECT event_id FROM event_outbox')).length;

test('Dispatchers never write more waiting deliveries than the quota; deliveries without room fail or are missed', async () => {
  await Promise.all([1, 2].map(() => world.start({ waitingQuota: quota, scheduleMs: [600_000] })));
  const first = await world.subscribe((await failingReceiver()).url);
  const { company_id } = first;
  const second = await world.subscribe((await failingReceiver()).url, { company_id });
  const waiting = async () =>
    (
      await world.database.query("SELECT 1 FROM deliveries WHERE state = 'waiting' AND company_id = ?", [
        company_id,
      ])
    ).length;
  await world.deliver(first, 60);
  let most = 0;
  await expect
    .poll(async () => {
      most = Math.max(most, await waiting());
      return outbox();
    })
    .toBe(0);
  expect(most).toBeLessThanOrEqual(quota);
  const [{ missed }] = (await world.database.query(
    'SELECT COALESCE(SUM(missed), 0) AS missed FROM missed_events WHERE company_id = ?',
    [company_id],
  )) as unknown as [{ missed: number }];
  const rows = [...(await world.deliveries(first)), ...(await world.deliveries(second))];
  const untried = rows.filter(({ state, attempts }) => state === 'dropped' && attempts === 0);
  expect(Number(missed)).toBeGreaterThan(0);
  expect(rows.length - untried.length + Number(missed)).toBe(120);
  const failed = rows.filter(({ state }) => state === 'failed');
  expect(failed.map(({ attempts }) => attempts)).toEqual(failed.map(() => 1));
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
