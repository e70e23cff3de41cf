import { setTimeout as sleep } from 'node:timers/promises';
import { parseMysqlUrl } from '@causeway/runtime';
import { type Receiver, startProxy, testReceiver, type Verdict } from '@causeway/runtime/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { countOf, openWorld, type Subscription, type World } from './testing/boot.ts';
import { databaseBehind } from './testing/database-behind.ts';
import { keepsResultsWhileRefused } from './testing/refused.ts';

let world: World;
let receiver: Receiver;
let subscription: Subscription;
beforeAll(async () => {
  world = await openWorld();
});
beforeEach(async () => {
  receiver = await testReceiver();
  subscription = await world.subscribe(receiver.url);
});

const delivered = async (): Promise<number> => (await world.states(subscription)).succeeded ?? 0;
const idsReceived = (): number[] => receiver.received.map(({ id }) => Number(id)).sort((a, b) => a - b);

const proxiedDatabase = async (verdict: (request: Buffer) => Verdict) => {
  const proxy = await startProxy(parseMysqlUrl(world.database.url), verdict);
  return databaseBehind(proxy, { url: world.database.url, poolSize: 5 });
};

test('two dispatchers share events and backlogs, and each delivery is sent once', async () => {
  await Promise.all([world.start(), world.start()]);
  const keys = [
    ...(await world.deliver(subscription, 300, { by: 'queue' })),
    ...(await world.deliver(subscription, 300)),
  ];
  for (let burst = 0; burst < 10; burst++) keys.push(...(await world.deliver(subscription, 20)));
  await expect.poll(delivered).toBe(800);
  // Time for a duplicate to arrive.
  await sleep(300);
  expect(idsReceived()).toEqual(keys.map((key) => key.event_id));
});

test('a delivery whose dispatcher is gone is due when its lease expires', async () => {
  await world.start();
  const dueMs = Date.now() + 800;
  await world.deliver(subscription, 3, { silent: true, dueMs });
  await expect.poll(delivered).toBe(3);
  for (const { atMs } of receiver.received) {
    expect(atMs).toBeGreaterThanOrEqual(dueMs);
  }
});

test('an event that arrives late in its lease becomes waiting deliveries, unless another dispatcher has it', async () => {
  const [taken, late] = await world.deliver(subscription, 2);
  await world.database.query('UPDATE event_outbox SET leased_until = ? WHERE event_id = ?', [
    new Date(Date.now() + 60_000),
    taken!.event_id,
  ]);
  // Lets the lease of the late event run down.
  await sleep(1_200);
  const { metrics } = await world.start();
  await expect.poll(idsReceived).toEqual([late!.event_id]);
  expect(await countOf(metrics, 'dispatcher_first_taken_total')).toBe(0);
});

test('a draining dispatcher finishes and records its attempts, and gives the rest back', async () => {
  receiver.answer = (response) => void setTimeout(() => response.end(), 400);
  const { drain } = await world.start();
  await world.deliver(subscription, 30);
  await expect.poll(() => receiver.received.length > 0).toBe(true);
  await drain();
  const done = await delivered();
  expect(done).toBeLessThan(30);
  expect(receiver.received).toHaveLength(done);
  const left = (await world.deliveries(subscription)).filter(({ state }) => state === 'waiting');
  expect(left).toHaveLength(30 - done);
  for (const { due_utc, attempts } of left) {
    expect(due_utc!.getTime()).toBeLessThanOrEqual(Date.now());
    expect(attempts).toBe(0);
  }
  expect((await world.queue(subscription))!.next_due_utc!.getTime()).toBeLessThanOrEqual(Date.now());
  await world.start();
  await expect.poll(delivered).toBe(30);
  expect(receiver.received).toHaveLength(30);
});

test('while MySQL is down results are kept and no attempt starts; then everything is recorded exactly once', async () => {
  let away = false;
  const db = await proxiedDatabase(() => (away ? 'drop' : 'pass'));
  receiver.answer = (response) => void setTimeout(() => response.end(), 300);
  await world.start({ db });
  const [first] = await world.deliver(subscription, 1);
  await expect.poll(() => receiver.received.length).toBe(1);
  away = true;
  await world.deliver(subscription, 20);
  // Time for a wrong attempt to start.
  await sleep(1_500);
  expect(receiver.received).toHaveLength(1);
  expect(await delivered()).toBe(0);
  away = false;
  receiver.answer = (response) => response.end();
  await expect.poll(async () => (await delivered()) >= 4).toBe(true);
  expect((await world.attempts(subscription))[0]).toMatchObject({ attempt: 1, status_code: 200 });
  expect(receiver.received.filter(({ id }) => Number(id) === first!.event_id)).toHaveLength(1);
});

// Other refusals come at night.
test('results are kept while MySQL is read-only, and recorded afterwards', () =>
  keepsResultsWhileRefused(world, 1290));

test('a commit whose answer is lost is written again, and counts nothing twice', async () => {
  let lost = 0;
  // Only commits that record attempts: those after an insert of an attempt on the connection.
  let recording = false;
  const db = await proxiedDatabase((request) => {
    const text = request.toString('latin1');
    if (text.includes('INTO delivery_attempts')) recording = true;
    if (!recording || !text.endsWith('commit') || lost >= 2) return 'pass';
    recording = false;
    lost++;
    return 'pass, then hang up';
  });
  receiver.answer = (response) => response.writeHead(500).end();
  await world.start({ db, scheduleMs: [60_000] });
  await world.deliver(subscription, 3);
  await expect.poll(async () => (await world.attempts(subscription)).length).toBe(3);
  await expect.poll(async () => (await world.queue(subscription))!.consecutive_failures).toBe(3);
  // Time for a second run of the write to count the failures again.
  await sleep(500);
  expect(lost).toBeGreaterThan(0);
  expect(await world.queue(subscription)).toMatchObject({ consecutive_failures: 3 });
  expect(await world.deliveries(subscription)).toMatchObject(
    Array(3).fill({ state: 'waiting', attempts: 1, last_status: 500 }),
  );
  expect(receiver.received).toHaveLength(3);
});

describe('NATS ends', () => {
  let shared: World;
  beforeEach(async () => {
    shared = world;
    world = await openWorld();
    subscription = await world.subscribe(receiver.url);
  });
  afterEach(() => {
    world = shared;
  });

  test('while a dispatcher drains, which still records its attempts', async () => {
    receiver.answer = (response) => void setTimeout(() => response.end(), 1_500);
    const { drain } = await world.start({ timeoutMs: 10_000 });
    await world.deliver(subscription, 1);
    await expect.poll(() => receiver.received.length).toBe(1);
    await world.nats.pause();
    const drained = drain();
    await world.nats.kill();
    await drained;
    expect(await delivered()).toBe(1);
  });

  test('and events come from the outbox; a lost stream is created again', async () => {
    const { metrics } = await world.start();
    await world.nats.stop();
    await world.deliver(subscription, 5);
    await expect.poll(delivered).toBe(5);
    // The stream is in memory, so it is gone.
    await world.nats.restart();
    await expect.poll(() => world.bus.connected()).toBe(true);
    const taken = () => countOf(metrics, 'dispatcher_first_taken_total');
    const before = await taken();
    let sent = 5;
    await expect
      .poll(async () => {
        sent += (await world.deliver(subscription, 1)).length;
        return taken();
      })
      .toBeGreaterThan(before);
    await expect.poll(delivered).toBe(sent);
  });
});

test('attempts are added up by minute, including their durations', async () => {
  const { drain } = await world.start({ scheduleMs: [] });
  await world.deliver(subscription, 6);
  await expect.poll(delivered).toBe(6);
  receiver.answer = (response) => void setTimeout(() => response.writeHead(500).end(), 120);
  await world.deliver(subscription, 2);
  await expect.poll(async () => (await world.attempts(subscription)).length).toBe(8);
  await drain();
  const rows = await world.database.query<Record<string, number>>(
    'SELECT * FROM delivery_minutes WHERE company_id = ?',
    [subscription.company_id],
  );
  const sum = (column: string) => rows.reduce((total, row) => total + row[column]!, 0);
  expect([sum('succeeded'), sum('failed')]).toEqual([6, 2]);
  const histogram = Object.keys(rows[0]!).filter((column) => /^upto_|^above$/.test(column));
  const slow = histogram.slice(histogram.indexOf('upto_250'));
  expect(slow.reduce((total, column) => total + sum(column), 0)).toBeGreaterThanOrEqual(2);
  expect(histogram.reduce((total, column) => total + sum(column), 0)).toBe(8);
});

test('what was stored before the clock of MySQL went back by an hour is not an hour late', async () => {
  let backMs = 0;
  const now = () => new Date(Date.now() - backMs);
  const options = { now, leaseMs: 1_000, timeoutMs: 500, scheduleMs: Array(20).fill(100) };
  await world.start({ ...options, scheduleMs: Array(20).fill(1_800_000) });
  const waits = await world.subscribe(receiver.url, { company_id: subscription.company_id + 1 });
  receiver.answer = (response) => response.writeHead(503).end();
  await world.deliver(waits, 3);
  await expect.poll(() => world.deliveries(waits)).toMatchObject(Array(3).fill({ attempts: 1 }));
  // Their dispatcher and their message are lost.
  await world.deliver(subscription, 2, { silent: true });
  await world.database.query('UPDATE event_outbox SET leased_until = ?', [new Date(Date.now() + 2_000)]);
  receiver.answer = (response) => response.end();
  backMs = 3_600_000;
  await expect.poll(delivered).toBe(2);
  await expect.poll(() => world.states(waits)).toEqual({ succeeded: 3 });
});
