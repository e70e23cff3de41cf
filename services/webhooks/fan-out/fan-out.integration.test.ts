import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DeliveryWake,
  decodeWake,
  deliveryConsumer,
  deliveryStream,
  deliverySubject,
  type EventOutboxRow,
  eventStream,
  type StoredEvent,
} from '@causeway/proto';
import {
  type Bus,
  connectBus,
  connectDatabase,
  createLog,
  createMetrics,
  type Database,
  noMetrics,
  parseMysqlUrl,
} from '@causeway/runtime';
import {
  cleanUp,
  type TestDatabase,
  type TestNats,
  testDatabase,
  testNats,
  testProcess,
} from '@causeway/runtime/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { beforeEach, describe, expect, test } from 'vitest';
import { startProxy, type Verdict } from '../../runtime/database/fixtures/proxy.ts';
import { type Tables, tenantTables } from '../tables.ts';
import { webhooksMigrations } from '../testing/boot.ts';
import { commitEvents, makeSubscription, publishEvents, until } from '../testing/events.ts';
import { fanOutEvents } from './fan-out-events.ts';
import { type FanOut, type FanOutOptions, startFanOut } from './start-fan-out.ts';

let database: TestDatabase;
let nats: TestNats;
let db: Database<Tables>;
let bus: Bus;
const { log } = createLog({ name: 'webhooks', instance: 'test', level: 'silent' });
const now = () => new Date();
/** No dispatcher runs here: announced deliveries get rows when this time is over. */
const leaseMs = 1_000;

beforeEach(async () => {
  [database, nats] = await Promise.all([testDatabase({ folders: webhooksMigrations }), testNats()]);
  db = database.connect<Tables>({ tenantTables });
  bus = await connectBus({ url: nats.url, name: 'test' });
  cleanUp(() => bus.close());
});

const start = async (options: Partial<FanOutOptions> = {}): Promise<FanOut> => {
  const own = database.connect<Tables>({ tenantTables });
  const replica = await startFanOut({
    bus,
    db: own,
    log,
    metrics: noMetrics,
    replicas: 1,
    now,
    leaseMs,
    ...options,
  });
  cleanUp(() => replica.drain());
  return replica;
};

/** A replica whose connection to MySQL can be cut. */
const startBehind = async (onRequest: (request: Buffer) => Verdict): Promise<FanOut> => {
  const { host, port } = parseMysqlUrl(database.url) as { host: string; port: number };
  const proxy = await startProxy({ host, port }, onRequest);
  const url = new URL(database.url);
  url.host = `127.0.0.1:${proxy.port}`;
  const own = connectDatabase<Tables>({ url: url.href, poolSize: 3, tenantTables });
  const replica = await startFanOut({ bus, db: own, log, metrics: noMetrics, replicas: 1, now, leaseMs });
  cleanUp(async () => {
    await replica.drain();
    await own.close();
  });
  return replica;
};

const [company, neighbour] = [5001, 5002];
const many = (count: number, event = {}) => Array.from({ length: count }, () => event);

const outbox = () => database.query<EventOutboxRow>('SELECT * FROM event_outbox');
const emptied = () => until('an empty outbox', async () => (await outbox()).length === 0);
const deliveries = () =>
  database.query<{ event_id: number; subscription_id: number; due_utc: Date; company_id: number }>(
    'SELECT * FROM deliveries ORDER BY event_id, subscription_id',
  );
const queue = async (id: number) =>
  (
    await database.query<{ next_due_utc: Date | null }>(
      'SELECT * FROM delivery_queues WHERE subscription_id = ?',
      [id],
    )
  )[0]!;
const ids = (rows: readonly { event_id: number }[]) => rows.map((row) => row.event_id);

/** Every wake sent from now on. */
const wakesFromNow = async () => {
  const wakes: ReturnType<typeof decodeWake>[] = [];
  bus.nc.subscribe(deliverySubject, {
    callback: (_, message) => void wakes.push(decodeWake(message.string())),
  });
  await bus.nc.flush();
  return wakes;
};

const announced = (wakes: readonly DeliveryWake[]) => wakes.flatMap(({ events }) => events);

describe('an event', () => {
  test('becomes one delivery for each enabled subscription of its type in its company, and of no other', async () => {
    const both = await makeSubscription(db, company, { event_types: ['client.created', 'lead.created'] });
    const one = await makeSubscription(db, company);
    await makeSubscription(db, company, { event_types: ['payment.failed'] });
    await makeSubscription(db, company, { enabled: 0, disabled_utc: now() });
    await makeSubscription(db, neighbour);
    await start();
    const wakes = await wakesFromNow();
    const events = await commitEvents(db, company, [
      { type: 'client.created' },
      { type: 'lead.created' },
      { type: 'invoice.created' },
    ]);
    publishEvents(bus, events);
    await emptied();
    const [client, lead] = events;
    const made = await deliveries();
    expect(made.map((row) => [row.event_id, row.subscription_id])).toEqual([
      [client!.event_id, both],
      [client!.event_id, one],
      [lead!.event_id, both],
    ]);
    for (const row of made)
      expect(row).toMatchObject({ company_id: company, replay_id: 0, state: 'waiting', attempts: 0 });
    expect(made[0]).toMatchObject({ event_type: 'client.created', created_utc: client!.created_utc });
    expect(announced(wakes).map((one) => [one.event_id, one.subscription_ids.toSorted()])).toEqual([
      [client!.event_id, [both, one]],
      [lead!.event_id, [both]],
    ]);
  });

  test('is leased, and announced to dispatchers at once; no delivery row is written before an attempt', async () => {
    const id = await makeSubscription(db, company);
    await start({ leaseMs: 60_000 });
    const wakes = await wakesFromNow();
    const startedMs = Date.now();
    publishEvents(bus, await commitEvents(db, company, [{}]));
    await until('a wake', async () => wakes.length === 1);
    const [row] = await outbox();
    const dueMs = row!.leased_until!.getTime();
    expect(wakes[0]!.dueMs).toBe(dueMs);
    expect(announced(wakes)).toEqual([
      {
        event_id: row!.event_id,
        company_id: company,
        created_utc: row!.created_utc,
        subscription_ids: [id],
      },
    ]);
    expect(dueMs - startedMs).toBeGreaterThanOrEqual(60_000);
    expect(dueMs - startedMs).toBeLessThan(65_000);
    expect(await deliveries()).toEqual([]);
    expect((await queue(id)).next_due_utc).toBeNull();
  });

  test('whose lease expires gets rows for the subscriptions without a delivery of it', async () => {
    const done = await makeSubscription(db, company);
    const open = await makeSubscription(db, company);
    await start();
    const [event] = await commitEvents(db, company, [{}]);
    publishEvents(bus, [event!]);
    await until('the lease', async () => (await outbox())[0]!.leased_until !== null);
    await database.query(
      `INSERT INTO deliveries (company_id, event_id, subscription_id, created_utc, event_type, state, attempts, updated_utc)
       VALUES (?, ?, ?, ?, 'client.created', 'succeeded', 1, ?)`,
      [company, event!.event_id, done, event!.created_utc, now()],
    );
    await emptied();
    expect(await deliveries()).toMatchObject([
      { subscription_id: done, state: 'succeeded', attempts: 1 },
      { subscription_id: open, state: 'waiting', attempts: 0 },
    ]);
    expect((await queue(open)).next_due_utc!.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test('that the stream delivers more than once is fanned out once', async () => {
    await makeSubscription(db, company);
    await start();
    const events = await commitEvents(db, company, many(50));
    const wakes = await wakesFromNow();
    publishEvents(bus, events);
    await emptied();
    await (await jetstreamManager(bus.nc)).streams.purge(eventStream);
    // With other message IDs, so that the stream accepts them again, and once more unchanged.
    publishEvents(bus, events);
    await commitEvents(db, company, [{}]).then((more) => publishEvents(bus, [...events, ...more, ...more]));
    await emptied();
    expect(await deliveries()).toHaveLength(51);
    expect(new Set(ids(announced(wakes))).size).toBe(announced(wakes).length);
  });

  test('of more subscriptions than a transaction takes reaches them all', async () => {
    const subscriptions: number[] = [];
    for (let at = 0; at < 90; at++) subscriptions.push(await makeSubscription(db, company));
    await start();
    publishEvents(bus, await commitEvents(db, company, many(60)));
    await emptied();
    expect(await deliveries()).toHaveLength(60 * 90);
  });

  test('whose record was trimmed leaves the outbox', async () => {
    await makeSubscription(db, company);
    await commitEvents(db, company, [{ created_utc: new Date(Date.now() - 60_000) }]);
    await database.query('DELETE FROM events');
    await start();
    await emptied();
    expect(await deliveries()).toEqual([]);
  });
});

describe('for a subscription that', () => {
  test('is failing, a delivery is due at once and nothing is published', async () => {
    const failing = await makeSubscription(db, company, { consecutive_failures: 5 });
    const nearly = await makeSubscription(db, company, { consecutive_failures: 4 });
    await start();
    const wakes = await wakesFromNow();
    publishEvents(bus, await commitEvents(db, company, [{}]));
    await emptied();
    await until('a wake', async () => wakes.length > 0);
    expect(announced(wakes).map((one) => one.subscription_ids)).toEqual([[nearly]]);
    expect((await queue(failing)).next_due_utc!.getTime()).toBeLessThanOrEqual(Date.now());
    const due = (await deliveries()).find((row) => row.subscription_id === failing)!;
    expect(due.due_utc.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test('is being probed, the queue keeps its due time; a queue whose retry is hours away is due at once', async () => {
    const probed = await makeSubscription(db, company, { consecutive_failures: 7 });
    const resting = await makeSubscription(db, company, { consecutive_failures: 7 });
    const guard = new Date(Date.now() + leaseMs);
    await database.query('UPDATE delivery_queues SET next_due_utc = ? WHERE subscription_id = ?', [
      guard,
      probed,
    ]);
    await database.query('UPDATE delivery_queues SET next_due_utc = ? WHERE subscription_id = ?', [
      new Date(Date.now() + 7_200_000),
      resting,
    ]);
    await start();
    publishEvents(bus, await commitEvents(db, company, [{}]));
    await emptied();
    expect((await queue(probed)).next_due_utc).toEqual(guard);
    expect((await queue(resting)).next_due_utc!.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test('has a backlog, a delivery waits for its turn in the queue', async () => {
    const lagging = await makeSubscription(db, company);
    const dueSince = new Date(Date.now() - 1_000);
    await database.query('UPDATE delivery_queues SET next_due_utc = ? WHERE subscription_id = ?', [
      dueSince,
      lagging,
    ]);
    await start();
    const wakes = await wakesFromNow();
    publishEvents(bus, await commitEvents(db, company, [{}]));
    await emptied();
    expect(wakes).toEqual([]);
    expect((await queue(lagging)).next_due_utc).toEqual(dueSince);
    expect((await deliveries())[0]!.due_utc.getTime()).toBeLessThanOrEqual(Date.now());
  });
});

describe('nothing is lost', () => {
  test('when nothing was published', async () => {
    await makeSubscription(db, company);
    await start();
    const events = await commitEvents(db, company, many(700));
    await emptied();
    expect(ids(await deliveries())).toEqual(ids(events));
  });

  test('when the stream is deleted while events arrive, and created again', async () => {
    await makeSubscription(db, company);
    await start();
    const manager = await jetstreamManager(bus.nc);
    const all: StoredEvent[] = [];
    for (let round = 0; round < 30; round++) {
      const events = await commitEvents(db, company, many(10));
      publishEvents(bus, events);
      all.push(...events);
      if (round === 10) await manager.streams.delete(eventStream);
      if (round === 15) await manager.streams.delete(deliveryStream);
    }
    await emptied();
    expect(ids(await deliveries())).toEqual(ids(all));
    await until('both streams', async () => {
      const names = (await manager.streams.names().next()).sort();
      return names.join() === [deliveryStream, eventStream].join();
    });
    // The new streams are in use. This uses another company: nobody takes the deliveries announced to the first one,
    // so on a slow machine its leases are over by now, and new events would not be announced.
    await makeSubscription(db, neighbour);
    const wakes = await wakesFromNow();
    await until(
      'an event on the fast path',
      async () => {
        publishEvents(bus, await commitEvents(db, neighbour, [{}]));
        await sleep(200);
        return wakes.length > 0;
      },
      10_000,
    );
  });

  test('when NATS is killed, loses its data and returns', async () => {
    await makeSubscription(db, company);
    await start();
    const before = await commitEvents(db, company, many(20));
    publishEvents(bus, before);
    await nats.kill();
    const during = await commitEvents(db, company, many(20));
    await emptied();
    expect(ids(await deliveries())).toEqual(ids([...before, ...during]));
    // Without a connection no dispatcher would get a wake, so the deliveries do not wait for a lease.
    const late = (await deliveries()).filter((row) => ids(during).includes(row.event_id));
    for (const row of late) expect(row.due_utc.getTime()).toBeLessThanOrEqual(Date.now());
    await nats.restart();
    await until('a connection', async () => bus.connected());
    const wakes = await wakesFromNow();
    await makeSubscription(db, neighbour);
    await until('an event on the fast path', async () => {
      publishEvents(bus, await commitEvents(db, neighbour, [{}]));
      await sleep(200);
      return wakes.length > 0;
    });
  });

  test('when a replica dies with a batch locked, or between its commit and the wakes', async () => {
    await makeSubscription(db, company);
    const events = await commitEvents(db, company, many(30));
    const dying = database.connect<Tables>({ tenantTables });
    const cut = fanOutEvents(dying, events.slice(0, 10), {
      publishes: true,
      leaseMs,
      // Within the transaction, before its first lock.
      now: () => {
        throw new Error('killed');
      },
    });
    await expect(cut).rejects.toThrow('killed');
    const holder = await database.connect<Tables>({ tenantTables }).startTransaction().execute();
    await holder
      .selectFrom('event_outbox')
      .select('event_id')
      .where('company_id', '=', company)
      .where('event_id', 'in', ids(events.slice(10, 20)))
      .forUpdate()
      .execute();
    // This replica has committed, but sent no wake.
    const silent = await fanOutEvents(dying, events.slice(20), { publishes: true, leaseMs, now });
    expect(silent.announced).toHaveLength(10);
    await start();
    publishEvents(bus, events);
    await until('all but what is locked', async () => (await outbox()).length === 10, 20_000);
    await holder.rollback().execute();
    await emptied();
    expect(ids(await deliveries())).toEqual(ids(events));
  });

  test('when a process is killed under load, again and again', async () => {
    await makeSubscription(db, company);
    await makeSubscription(db, neighbour);
    await start();
    const all: StoredEvent[] = [];
    for (let round = 0; round < 3; round++) {
      const victim = await startProcess();
      const load = (async () => {
        for (let at = 0; at < 40; at++) {
          const events = [
            ...(await commitEvents(db, company, many(5))),
            ...(await commitEvents(db, neighbour, many(5))),
          ];
          publishEvents(bus, events);
          all.push(...events);
          await sleep(5);
        }
      })();
      await sleep(100 + 50 * round);
      await victim.kill();
      await load;
    }
    // Its leases last longer than this test.
    await database.query('UPDATE event_outbox SET leased_until = ?', [now()]);
    await emptied();
    const made = await deliveries();
    expect(ids(made)).toEqual(ids(all).sort((a, b) => a - b));
    for (const row of made)
      expect(row.subscription_id).toBe(
        row.company_id === company ? made[0]!.subscription_id : row.subscription_id,
      );
  });

  test.each([
    ['before its deliveries are written', 'INSERT INTO deliveries', 'drop'],
    ['before its outbox rows are leased', 'SET o.leased_until', 'drop'],
    ['before its outbox rows are deleted', 'DELETE o FROM', 'drop'],
    ['after its queues are scheduled', 'INSERT INTO delivery_queues', 'pass, then hang up'],
    ['before its commit', /commit$/, 'drop'],
    ['after its commit, before the answer', /commit$/, 'pass, then hang up'],
  ] as const)('when the connection of a transaction breaks %s', async (_, statement, verdict) => {
    await makeSubscription(db, company);
    let broken = 0;
    await startBehind((request) => {
      const text = request.toString();
      const meant = typeof statement === 'string' ? text.includes(statement) : statement.test(text);
      return meant && broken++ < 3 ? verdict : 'pass';
    });
    const events = await commitEvents(db, company, many(40));
    publishEvents(bus, events);
    await emptied();
    expect(ids(await deliveries())).toEqual(ids(events));
    expect(broken).toBeGreaterThan(0);
  });

  test('when MySQL and NATS are down for a while, and return', async () => {
    const id = await makeSubscription(db, company);
    let away = false;
    await startBehind(() => (away ? 'drop' : 'pass'));
    const before = await commitEvents(db, company, many(20));
    away = true;
    publishEvents(bus, before);
    await sleep(1_500);
    expect(await deliveries()).toEqual([]);
    await nats.restart();
    const during = await commitEvents(db, company, many(20));
    away = false;
    await emptied();
    const made = await deliveries();
    expect(ids(made)).toEqual(ids([...before, ...during]));
    expect(made.every((row) => row.subscription_id === id)).toBe(true);
  });

  test('when two replicas share the work', async () => {
    for (let at = 0; at < 5; at++) await makeSubscription(db, company + at);
    const metrics = createMetrics();
    const options = { metrics, batchSize: 20, leaseMs: 60_000 };
    await Promise.all([start(options), start(options)]);
    const wakes = await wakesFromNow();
    const all: StoredEvent[] = [];
    for (let at = 0; at < 5; at++) all.push(...(await commitEvents(db, company + at, many(200))));
    publishEvents(bus, all);
    await until('all wakes', async () => announced(wakes).length >= 1_000);
    expect(ids(announced(wakes)).toSorted((a, b) => a - b)).toEqual(ids(all));
    await until('each is counted once', async () =>
      /^webhooks_events_fanned_out_total 1000$/m.test(await metrics.registry.metrics()),
    );
    expect(await metrics.registry.metrics()).toMatch(/^webhooks_deliveries_made_total 1000$/m);
  });
});

test('wakes that are published before any dispatcher runs are kept', async () => {
  await makeSubscription(db, company);
  await start();
  publishEvents(bus, await commitEvents(db, company, many(100)));
  const manager = await jetstreamManager(bus.nc);
  await until(
    'wakes in the stream',
    async () => (await manager.consumers.info(deliveryStream, deliveryConsumer)).num_pending > 0,
  );
});

test('deliveries of wakes that the stream does not acknowledge are due at once', async () => {
  const id = await makeSubscription(db, company);
  await start();
  const manager = await jetstreamManager(bus.nc);
  // The stream exists, so it is not created again, but it does not accept the subject of wakes.
  await manager.streams.update(deliveryStream, { subjects: ['elsewhere'] });
  publishEvents(bus, await commitEvents(db, company, [{}]));
  await until('a delivery that is due', async () => {
    const [row] = await deliveries();
    return row !== undefined && row.due_utc.getTime() <= Date.now();
  });
  expect((await queue(id)).next_due_utc!.getTime()).toBeLessThanOrEqual(Date.now());
});

test('in a quiet system a published event becomes a wake at once, not at the next sweep of the outbox', async () => {
  await makeSubscription(db, company);
  await start();
  const wakes = await wakesFromNow();
  const elapsed: number[] = [];
  for (let at = 1; at <= 11; at++) {
    const events = await commitEvents(db, company, [{}]);
    const startedMs = performance.now();
    publishEvents(bus, events);
    while (wakes.length < at) await sleep(1);
    elapsed.push(performance.now() - startedMs);
  }
  elapsed.sort((a, b) => a - b);
  // The sweeper ignores an event for two seconds, so anything earlier came from the stream.
  expect(elapsed[5]).toBeLessThan(2000);
});

const startProcess = () =>
  testProcess({
    entry: join(import.meta.dirname, '../main.ts'),
    env: {
      ...process.env,
      MYSQL_URL: database.url,
      NATS_URL: nats.url,
      LOG_LEVEL: 'warn',
      WEBHOOKS_SECRET_KEYS: `test:${randomBytes(32).toString('base64')}`,
    },
  });
