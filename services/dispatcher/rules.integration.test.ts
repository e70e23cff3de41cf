import { setTimeout as sleep } from 'node:timers/promises';
import { sealSecret } from '@causeway/runtime';
import { testReceiver } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { beforeAll, expect, test } from 'vitest';
import { openWorld, type Subscription, type World } from './testing/boot.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});

const set = async ({ company_id, subscription_id }: Subscription, columns: object): Promise<void> => {
  await world.database.query('UPDATE subscriptions SET ? WHERE company_id = ? AND subscription_id = ?', [
    columns,
    company_id,
    subscription_id,
  ]);
  await world.database.query('INSERT INTO subscription_changes SET ?', [
    { company_id, subscription_id, changed_utc: new Date() },
  ]);
};
const settled = (): Promise<number> =>
  world.database.query('SELECT 1 FROM event_outbox').then(({ length }) => length);

/** The most attempts that began in any window. */
const mostWithin = async (subscription: Subscription, windowMs: number): Promise<number> => {
  const starts = (await world.attempts(subscription)).map(({ started_utc }) => started_utc.getTime());
  return Math.max(
    ...starts.map((at) => starts.filter((other) => other >= at && other < at + windowMs).length),
  );
};

test('an event goes to the subscriptions whose conditions it meets, by its message, the sweeper and many subscribers', async () => {
  const receiver = await testReceiver();
  const conditions = JSON.stringify([{ field: 'status', in: ['paid', 'open'] }]);
  const choosy = await world.subscribe(receiver.url, { conditions });
  const { drain } = await world.start();
  for (const by of ['event', 'outbox'] as const)
    for (const payload of ['{"status":"open"}', '{"status":"void"}', '{"client_id":7,"erased":true}'])
      await world.deliver(choosy, 2, { by, payload });
  await expect.poll(settled).toBe(0);
  await expect.poll(() => world.states(choosy)).toEqual({ succeeded: 4 });
  expect(receiver.received.map(({ body }) => String(body)).every((body) => body.includes('"open"'))).toBe(
    true,
  );
  await drain();
});

test('two dispatchers, of which one is replaced, begin no more attempts in a second than the pace, retries included', async () => {
  const receiver = await testReceiver();
  receiver.answer = (response) => response.writeHead(receiver.received.length % 5 === 0 ? 500 : 200).end();
  const paced = await world.subscribe(receiver.url, { pace_limit: 4, pace_seconds: 1 });
  const stuck = await world.subscribe(receiver.url, { pace_limit: 1, pace_seconds: 60 });
  const other = await world.subscribe((await testReceiver()).url);
  const options = { scheduleMs: [50, 50, 50, 50, 50] };
  const [first, second] = await Promise.all([world.start(options), world.start(options)]);
  await world.deliver(paced, 10);
  await world.deliver(paced, 6, { by: 'outbox' });
  await expect.poll(() => receiver.received.length).toBeGreaterThan(5);
  await first.drain();
  const third = await world.start(options);
  await world.deliver(stuck, 2);
  await world.deliver(other, 20);
  await expect.poll(() => world.states(other)).toEqual({ succeeded: 20 });
  await expect.poll(() => world.states(stuck)).toEqual({ succeeded: 1, waiting: 1 });
  await expect.poll(() => world.states(paced)).toEqual({ succeeded: 16 });
  expect(await mostWithin(paced, 1_000)).toBeLessThanOrEqual(4);
  expect(await world.queue(paced)).toMatchObject({ consecutive_failures: 0 });
  await Promise.all([second.drain(), third.drain()]);
});

test('a queue whose receiver is slow is no late queue with room', async () => {
  const receiver = await testReceiver();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  receiver.answer = (response) => void released.then(() => response.writeHead(200).end());
  const slow = await world.subscribe(receiver.url);
  await world.deliver(slow, 3, { by: 'queue', dueMs: Date.now() - 300_000 });
  const { metrics, drain } = await world.start({ timeoutMs: 20_000 });
  const exported = () => metrics.registry.metrics();
  await expect.poll(exported).toMatch(/^dispatcher_oldest_due_seconds\{kind="served"\} [34]\d\d/m);
  const text = await exported();
  expect(text).toMatch(/^dispatcher_oldest_due_seconds\{kind="open"\} [1-5]?\d(\.|$)/m);
  expect(text).toMatch(/^dispatcher_late_companies 0$/m);
  release();
  await expect.poll(() => world.states(slow)).toEqual({ succeeded: 3 });
  await drain();
});

test('a paced queue is late by its own due time, not by that of its deliveries', async () => {
  const receiver = await testReceiver();
  const paced = await world.subscribe(receiver.url, { pace_limit: 1, pace_seconds: 60 });
  const lateness = async () => {
    const { metrics, drain } = await world.start();
    const read = async () =>
      /^dispatcher_oldest_due_seconds\{kind="open"\} (\d+)/m.exec(await metrics.registry.metrics())?.[1];
    await expect.poll(read).toMatch(/\d/);
    const seconds = Number(await read());
    expect(await metrics.registry.metrics()).toMatch(
      seconds > 60 ? /^dispatcher_late_companies [1-9]/m : /^dispatcher_late_companies 0$/m,
    );
    await drain();
    return seconds;
  };
  await world.deliver(paced, 1);
  const { drain } = await world.start();
  await expect.poll(() => world.states(paced)).toEqual({ succeeded: 1 });
  await world.deliver(paced, 2, { by: 'queue', dueMs: Date.now() - 300_000 });
  // The queue is looked at, and is due again when the minute is over.
  await expect
    .poll(async () => +(await world.queue(paced))!.next_due_utc! - Date.now())
    .toBeGreaterThan(1_000);
  await drain();
  expect(await lateness()).toBeLessThan(60);

  // A turn that hangs, as other dispatchers skip the rows that it locked.
  const stuck = await createConnection(world.database.url);
  await stuck.query('UPDATE delivery_queues SET next_due_utc = NOW(3) - INTERVAL 200 SECOND');
  await stuck.beginTransaction();
  await stuck.query('SELECT * FROM delivery_queues FOR UPDATE');
  expect(await lateness()).toBeGreaterThanOrEqual(200);
  await stuck.end();
  expect(receiver.received).toHaveLength(1);
});

test('deliveries of a paused subscription wait over a restart, and go out in their order when it is resumed', async () => {
  const receiver = await testReceiver();
  const subscription = await world.subscribe(receiver.url, { paused_utc: new Date(), paused_by: 'Zoë' });
  const other = await world.subscribe(receiver.url, { company_id: subscription.company_id });
  const before = await world.start();
  await world.deliver(subscription, 5);
  await world.deliver(subscription, 5, { by: 'outbox' });
  await expect.poll(() => world.states(other)).toEqual({ succeeded: 10 });
  await expect.poll(() => world.states(subscription)).toEqual({ waiting: 10 });
  await before.drain();
  const { drain, metrics } = await world.start();
  const parked = async () => ((await world.queue(subscription))!.next_due_utc?.getTime() ?? 0) - Date.now();
  await expect.poll(parked).toBeGreaterThan(10_000);
  // Time for a wrong attempt.
  await sleep(400);
  expect(await world.states(subscription)).toEqual({ waiting: 10 });
  expect(await metrics.registry.metrics()).not.toMatch(
    /^dispatcher_oldest_due_seconds\{kind="open"\} [1-9]/m,
  );
  await set(subscription, { paused_utc: null, paused_by: null });
  await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 10 });
  expect(await world.queue(subscription)).toMatchObject({ consecutive_failures: 0 });
  const starts = await world.attempts(subscription);
  const ids = starts.toSorted((a, b) => +a.started_utc - +b.started_utc).map(({ event_id }) => event_id);
  expect(ids.at(0)).toBe(Math.min(...ids));
  await drain();
});

test('its own headers go with every attempt, and are stored in none', async () => {
  const receiver = await testReceiver();
  const subscription = await world.subscribe(receiver.url);
  const secret = 'Bearer a-very-secret-token';
  await set(subscription, {
    headers: sealSecret(world.keyRing, subscription.company_id, JSON.stringify({ Authorization: secret })),
    header_names: '["Authorization"]',
  });
  const { drain } = await world.start();
  await world.deliver(subscription, 1);
  await world.deliver(subscription, 1, { by: 'queue' });
  await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 2 });
  expect(receiver.received.map(({ headers }) => headers.authorization)).toEqual([secret, secret]);
  expect(JSON.stringify(await world.attempts(subscription))).not.toContain('very-secret');
  const raw = await world.database.query('SELECT sent FROM delivery_attempts');
  expect(
    raw
      .map((row) =>
        Object.values(row as object)
          .map(String)
          .join(),
      )
      .join(),
  ).not.toContain('very-secret');
  await drain();
});

test('what waits and is no longer asked for is discarded when its turn comes, and counts nowhere as a failure', async () => {
  const receiver = await testReceiver();
  const both = { event_types: '["client.created","lead.created"]' };
  const subscription = await world.subscribe(receiver.url, both);
  const ids = [subscription.company_id, subscription.subscription_id];
  const replay = async (kind: string): Promise<number> => {
    await world.database.query(
      `INSERT INTO replays (company_id, subscription_id, kind, filter, total, made, position, created_utc)
       VALUES (?, ?, ?, '{}', 2, 2, 9007199254740991, NOW(3))`,
      [...ids, kind],
    );
    const [row] = await world.database.query<{ id: number }>('SELECT MAX(replay_id) AS id FROM replays');
    return row!.id;
  };
  const [failed, resent] = [await replay('failed'), await replay('resend')];
  const lead = { by: 'queue', type: 'lead.created' } as const;
  await world.deliver(subscription, 700, lead);
  await world.deliver(subscription, 2, { ...lead, replayId: failed });
  await world.deliver(subscription, 1, { ...lead, replayId: resent });
  for (const status of ['open', 'void'])
    await world.deliver(subscription, 3, { by: 'queue', payload: `{"status":"${status}"}` });
  await world.deliver(subscription, 1, { by: 'queue', payload: '{"client_id":7,"erased":true}' });
  const conditions = JSON.stringify([{ field: 'status', equals: 'open' }]);
  await set(subscription, { event_types: '["client.created"]', conditions });
  // A failing one is probed once in ten minutes, and what is discarded is no probe.
  await world.database.query(
    'UPDATE delivery_queues SET consecutive_failures = 7, next_due_utc = ?, probe_due_utc = ? WHERE company_id = ? AND subscription_id = ?',
    [new Date(), new Date(), ...ids],
  );
  const { drain } = await world.start({ probeIntervalMs: 600_000 });
  await expect.poll(() => world.states(subscription)).toEqual({ dropped: 705, succeeded: 5 });
  expect(receiver.received).toHaveLength(5);
  expect(await world.queue(subscription)).toMatchObject({ consecutive_failures: 0 });
  expect(
    await world.database.query('SELECT made, succeeded, failed FROM replays WHERE replay_id IN (?, ?)', [
      failed,
      resent,
    ]),
  ).toEqual([
    { made: 0, succeeded: 0, failed: 0 },
    { made: 2, succeeded: 1, failed: 0 },
  ]);
  await drain();
});
