import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseMysqlUrl } from '@causeway/runtime';
import { cleanUp, type Receiver, startProxy, testProcess, testReceiver } from '@causeway/runtime/testing';
import { beforeEach, expect, test } from 'vitest';
import { type Tables, tenantTables } from '../tables.ts';
import { countOf, openWorld, type Subscription, type World } from '../testing/boot.ts';
import { databaseBehind } from '../testing/database-behind.ts';
import { freeLeases } from './free-leases.ts';

let world: World;
let receiver: Receiver;
let subscription: Subscription;
beforeEach(async () => {
  world = await openWorld();
  receiver = await testReceiver();
  subscription = await world.subscribe(receiver.url);
});

const delivered = async (): Promise<number> => (await world.states(subscription)).succeeded ?? 0;
const idsReceived = (): number[] => receiver.received.map(({ id }) => Number(id)).sort((a, b) => a - b);
const dispatchers = () =>
  world.database.query<{ instance: string; given_up_utc: Date | null }>('SELECT * FROM dispatchers');

const startProcess = () => {
  const [[name, key]] = [...world.keyRing.keys] as [[string, Buffer]];
  return testProcess({
    entry: join(import.meta.dirname, '../main.ts'),
    env: {
      ...process.env,
      MYSQL_URL: world.database.url,
      NATS_URL: world.nats.url,
      WEBHOOKS_SECRET_KEYS: `${name}:${key.toString('base64')}`,
      WEBHOOKS_ALLOW_HTTP: 'true',
      WEBHOOKS_ALLOW_PRIVATE: 'true',
      LOG_LEVEL: 'error',
    },
  });
};

test('what a killed dispatcher had leased is delivered by another, long before the leases end', async () => {
  receiver.answer = () => {};
  const child = await startProcess();
  const keys = await world.deliver(subscription, 20, { by: 'queue' });
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  // At once, so that no attempt ends by its timeout.
  await child.kill();
  const before = receiver.received.length;
  const other = await world.start();
  receiver.answer = (response) => response.end();
  await expect.poll(delivered).toBe(20);
  const due = (await world.deliveries(subscription)).map(({ attempts }) => attempts);
  expect(due).toEqual(Array(20).fill(1));
  expect([...new Set(idsReceived())]).toEqual(keys.map((key) => key.event_id));
  // Only deliveries under way were sent twice.
  expect(receiver.received.length - 20).toBeLessThanOrEqual(before);
  expect(await countOf(other.metrics, 'dispatcher_given_up_total')).toBe(1);
  expect(await countOf(other.metrics, 'dispatcher_leases_freed_total')).toBeGreaterThan(0);
  await expect.poll(dispatchers).toMatchObject([{ given_up_utc: null }]);
});

test('a frozen dispatcher loses its leases, and starts nothing of them when it continues', async () => {
  const hanging: (() => void)[] = [];
  receiver.answer = (response) => void hanging.push(() => response.end());
  const child = await startProcess();
  const keys = await world.deliver(subscription, 20, { by: 'queue' });
  await expect.poll(() => receiver.received.length).toBe(1);
  child.pause();
  receiver.answer = (response) => response.end();
  const other = await world.start();
  // The leased deliveries arrive when the frozen dispatcher is given up.
  await expect.poll(delivered).toBe(20);
  const before = receiver.received.length;
  expect(before).toBeLessThanOrEqual(21);
  child.resume();
  // Each answer gives it room for another attempt.
  for (const answer of hanging) answer();
  await expect.poll(dispatchers).toHaveLength(2);
  // Time for the dispatcher to use its room for wrong attempts.
  await sleep(1_000);
  expect(receiver.received).toHaveLength(before);
  expect([...new Set(idsReceived())]).toEqual(keys.map((key) => key.event_id));
  expect(await countOf(other.metrics, 'dispatcher_leases_freed_total')).toBeGreaterThan(0);
  await other.drain();
  const more = await world.deliver(subscription, 5);
  await expect.poll(delivered).toBe(25);
  expect(receiver.received.slice(before).map(({ id }) => Number(id))).toEqual(
    expect.arrayContaining(more.map((key) => key.event_id)),
  );
});

test('a dispatcher that was frozen past the leases of its events sends nothing twice', async () => {
  const hanging: (() => void)[] = [];
  const child = await startProcess();
  // Quick answers make room for more than three at once, and so for wrong attempts.
  const quick = await world.deliver(subscription, 50);
  await expect.poll(delivered).toBe(50);
  receiver.answer = (response) => void hanging.push(() => response.end());
  const keys = [...quick, ...(await world.deliver(subscription, 3))];
  await expect.poll(() => hanging.length).toBe(3);
  child.pause();
  const outbox = (where: string) => world.database.query(`SELECT 1 FROM event_outbox WHERE ${where}`);
  await expect.poll(() => outbox('leased_until > UTC_TIMESTAMP(3)')).toEqual([]);
  receiver.answer = (response) => response.end();
  child.resume();
  await expect.poll(() => outbox('TRUE')).toEqual([]);
  // Time for a wrong attempt.
  await sleep(1_000);
  for (const answer of hanging) answer();
  await expect.poll(delivered).toBe(53);
  expect(idsReceived()).toEqual(keys.map((key) => key.event_id));
});

test('a dispatcher that is cut off from the database starts nothing, and another has its leases soon', async () => {
  const server = await startProxy(parseMysqlUrl(world.database.url));
  const connect = (poolSize: number) => databaseBehind(server, { url: world.database.url, poolSize });
  receiver.answer = (response) => void setTimeout(() => response.end(), 600);
  const cutOff = await world.start({ db: connect(4), beatDb: connect(1) });
  cleanUp(async () => server.comeBack());
  await world.deliver(subscription, 20, { by: 'queue' });
  await expect.poll(() => receiver.received.length).toBe(1);
  server.vanish();
  const other = await world.start();
  await expect.poll(delivered).toBe(20);
  // Its own attempts: those of the first second, before it knew.
  expect(receiver.received.length).toBeLessThanOrEqual(32);
  expect(await countOf(other.metrics, 'dispatcher_given_up_total')).toBe(1);
  expect(await countOf(other.metrics, 'dispatcher_leases_freed_total')).toBeGreaterThan(0);
  expect(await countOf(cutOff.metrics, 'dispatcher_given_up_total')).toBe(0);
});

test('events of a dispatcher that lives and cannot write for a while are left to it', async () => {
  const server = await startProxy(parseMysqlUrl(world.database.url));
  cleanUp(async () => server.comeBack());
  // Its beats get through.
  const slow = await world.start({ db: databaseBehind(server, { url: world.database.url, poolSize: 4 }) });
  await world.deliver(subscription, 1);
  await expect.poll(delivered).toBe(1);
  receiver.answer = (response) => {
    server.vanish();
    response.end();
  };
  await world.deliver(subscription, 1);
  await expect.poll(() => receiver.received.length).toBe(2);
  const other = await world.start();
  await world.deliver(subscription, 1, { by: 'outbox' });
  // The leases end after 1.5 s. Whose the second event is that has no delivery yet, the other cannot know.
  await sleep(4_000);
  expect(receiver.received).toHaveLength(2);
  receiver.answer = (response) => response.end();
  await server.comeBack();
  await expect.poll(delivered).toBe(3);
  expect(receiver.received).toHaveLength(3);
  for (const one of [slow, other]) expect(await countOf(one.metrics, 'dispatcher_given_up_total')).toBe(0);
});

test('while the database is away nobody is given up', async () => {
  let away = false;
  const server = await startProxy(parseMysqlUrl(world.database.url), () => (away ? 'drop' : 'pass'));
  const connect = (poolSize: number) => databaseBehind(server, { url: world.database.url, poolSize });
  const start = () => world.start({ db: connect(4), beatDb: connect(1) });
  const two = [await start(), await start()];
  away = true;
  // Longer than the 1.25 s after which a silent dispatcher is given up.
  await sleep(3_000);
  away = false;
  await world.deliver(subscription, 5);
  await expect.poll(delivered).toBe(5);
  // Long enough to give a silent dispatcher up.
  await sleep(1_500);
  for (const one of two) expect(await countOf(one.metrics, 'dispatcher_given_up_total')).toBe(0);
  expect(receiver.received).toHaveLength(5);
});

test('a dispatcher that stops leaves no row', async () => {
  const { drain } = await world.start();
  expect(await dispatchers()).toHaveLength(1);
  await drain();
  expect(await dispatchers()).toEqual([]);
});

test('leases of a paused or paced queue that is looked at in a minute are freed too', async () => {
  const nowMs = Date.now();
  await world.deliver(subscription, 3, { silent: true, dueMs: nowMs + 25_000 });
  await world.database.query('UPDATE deliveries SET leased_by = 77');
  await world.database.query('UPDATE delivery_queues SET next_due_utc = ?', [new Date(nowMs + 60_000)]);
  const db = world.database.connect<Tables>({ tenantTables });
  expect(await freeLeases(db, 77, new Date(nowMs))).toEqual({ freed: 3, left: 0 });
  expect((await world.queue(subscription))!.next_due_utc!.getTime()).toBeLessThanOrEqual(nowMs);
});
