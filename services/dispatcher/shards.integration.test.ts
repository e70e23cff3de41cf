import { outboxLeaseMs } from '@causeway/proto';
import { type Bus, createLog, noMetrics } from '@causeway/runtime';
import { type TestShards, testShards } from '@causeway/runtime/testing';
import { beforeEach, expect, test } from 'vitest';
import type { AttemptedDelivery, LeasedDelivery, TakenEvent } from './delivery.ts';
import { startFanOut } from './fan-out/start-fan-out.ts';
import { createHealth } from './health.ts';
import { freeLeases } from './leases/free-leases.ts';
import { claimDue } from './queues/claim.ts';
import { recountHeld } from './queues/retention.ts';
import { createRecorder, type Recorder, type RecorderOptions } from './record/recorder.ts';
import { type Tables, tenantTables } from './tables.ts';

const folders = ['access', 'crm', 'webhooks'].map((name) => ({
  name,
  folder: new URL(`../${name}/migrations`, import.meta.url).pathname,
}));
const companies = Array.from({ length: 16 }, (_, at) => 101 + at);
const { log } = createLog({ name: 'dispatcher', instance: 'test', level: 'silent' });
const created = new Date();
const now = (): Date => new Date();
const waitingQuota = 100;
const common = { now, waitingQuota, log, metrics: noMetrics, onMissed: () => {} };
const openRecorder = (more: Partial<RecorderOptions> = {}): Recorder =>
  createRecorder({
    ...common,
    db: shards.db,
    bus: { connected: () => false } as Bus,
    health: createHealth(),
    sharedHealth: { changed: () => {} },
    holderId: () => 7,
    probeIntervalMs: 1_000,
    maxUnrecorded: 100,
    ...more,
  });

let shards: TestShards<Tables>;
let events: readonly (TakenEvent & { readonly type: 'client.created' })[];
let deliveries: readonly LeasedDelivery[];

/** Each company has a subscription and an event, with the company's id as theirs. */
beforeEach(async () => {
  shards = await testShards<Tables>(folders, { tenantTables });
  const leaseMs = created.getTime() + outboxLeaseMs;
  for (const id of companies) {
    const { query, name } = shards.of(id);
    const insert = (table: string, row: Record<string, unknown>) =>
      query('INSERT INTO ??.?? SET ?', [name, table, row]);
    await insert('subscriptions', {
      company_id: id,
      subscription_id: id,
      url: 'https://example.com',
      event_types: '["client.created"]',
      secret: Buffer.alloc(8),
      created_utc: created,
      updated_utc: created,
    });
    await insert('delivery_queues', { company_id: id, subscription_id: id });
    await insert('event_outbox', {
      company_id: id,
      event_id: id,
      sequence: id,
      created_utc: created,
      leased_until: new Date(leaseMs),
    });
  }
  events = companies.map((id) => ({
    company_id: id,
    event_id: id,
    created_utc: created,
    type: 'client.created',
    leaseMs,
    open: new Map(),
    missed: [],
  }));
  deliveries = events.map((event): LeasedDelivery => {
    const delivery = { ...keyOf(event.company_id), event_type: event.type, leaseMs, event } as const;
    event.open.set(delivery.subscription_id, delivery);
    return delivery;
  });
});
const keyOf = (id: number) => ({
  company_id: id,
  event_id: id,
  subscription_id: id,
  replay_id: 0,
  created_utc: created,
});

const everyCompanyIn = async (table: string): Promise<void> =>
  expect([table, await shards.companiesIn(table)]).toEqual([table, shards.expected(companies)]);
const noCompanyIn = async (table: string): Promise<void> =>
  expect([table, await shards.companiesIn(table)]).toEqual([table, [[], [], []]]);
const states = async (): Promise<readonly unknown[]> =>
  (
    await Promise.all(
      companies.map((id) =>
        shards
          .of(id)
          .query(`SELECT state, leased_by FROM ${shards.of(id).name}.deliveries WHERE company_id = ?`, [id]),
      ),
    )
  ).flat();

const fanOutAll = async (): Promise<void> => {
  const fanOut = startFanOut({
    ...common,
    db: shards.db,
    poller: { wake: () => {} },
    recorder: { openEvents: () => new Set() },
  });
  for (const { company_id, event_id, type, leaseMs } of events)
    fanOut.write({ company_id, event_id, type, leaseMs });
  await fanOut.stop();
};

test('waiting deliveries are written, claimed, freed and given back in their shards', async () => {
  expect(shards.expected(companies).map(({ length }) => length > 3)).toEqual([false, true, true]);
  await fanOutAll();
  await everyCompanyIn('deliveries');
  await noCompanyIn('event_outbox');

  for (const own of new Set(companies.map((id) => shards.of(id))))
    await claimDue(own.connect<Tables>({ tenantTables }), {
      queues: companies.filter((id) => shards.of(id) === own).map(keyOf),
      allot: (targets) => targets.map(() => 1),
      now: now(),
      nowMs: performance.now(),
      leaseMs: 20_000,
      holderId: 7,
    });
  expect(await states()).toEqual(companies.map(() => ({ state: 'waiting', leased_by: 7 })));

  const leaseMs = Date.now() + 10_000;
  for (const id of companies)
    await shards.of(id).query(`UPDATE ${shards.of(id).name}.deliveries SET due_utc = ?`, [new Date(leaseMs)]);
  const recorder = openRecorder();
  recorder.giveBack(deliveries.map(({ event: _, ...delivery }) => ({ ...delivery, leaseMs })));
  await recorder.drain();
  expect(await states()).toEqual(companies.map(() => ({ state: 'waiting', leased_by: null })));
  expect(await freeLeases(shards.db, 7, now())).toEqual({ freed: 0, left: 0 });
});

test('results are recorded and counted in their shards, and their events leave the outbox', async () => {
  const failed: number[] = [];
  const changed: RecorderOptions['sharedHealth']['changed'] = (changes) =>
    void failed.push(...changes.map(({ company_id }) => company_id));
  const recorder = openRecorder({ sharedHealth: { changed } });
  for (const event of events) recorder.take(event);
  for (const delivery of deliveries) {
    const retried = delivery.company_id % 2 === 0;
    recorder.attempted({
      ...delivery,
      attempt: 1,
      sequence: 1,
      origin: 'system',
      source: 'first',
      probe: false,
      target: { url: 'https://example.com' } as AttemptedDelivery['target'],
      body: Buffer.alloc(0),
      startedMs: Date.now(),
      signed: { timestamp: 1, signatures: ['', ''], ownHeaders: [] },
      result: {
        elapsedMs: 5,
        dnsMs: null,
        connectMs: null,
        tlsMs: null,
        firstByteMs: 4,
        address: null,
        statusCode: retried ? 500 : 200,
        errorClass: retried ? 'http' : null,
        error: null,
        wasSent: true,
        wasUnread: false,
        ownFault: null,
        responseHeaders: null,
        responseBody: null,
        responseTruncated: false,
        retryAfter: null,
      } as never,
      decision: retried
        ? { outcome: 'retry', dueMs: Date.now() + 60_000, gone: false, notBeforeMs: 0 }
        : { outcome: 'succeeded' },
    });
  }
  await recorder.drain();
  for (const table of ['deliveries', 'delivery_attempts', 'delivery_minutes']) await everyCompanyIn(table);
  await noCompanyIn('event_outbox');
  const retried = companies.filter((id) => id % 2 === 0);
  expect(failed.toSorted()).toEqual(retried);
  expect((await states()).map((row) => (row as { state: string }).state)).toEqual(
    companies.map((id) => (id % 2 === 0 ? 'waiting' : 'succeeded')),
  );
});

test('unfinished deliveries get rows in their shards before the leases of their events end', async () => {
  const leaseMs = Date.now() + 5_000;
  for (const id of companies)
    await shards
      .of(id)
      .query(`UPDATE ${shards.of(id).name}.event_outbox SET leased_until = ?`, [new Date(leaseMs)]);
  const soon = (): Date => new Date(leaseMs - 100);
  const recorder = openRecorder({ now: soon });
  for (const event of events) {
    event.leaseMs = leaseMs;
    recorder.take(event);
  }
  await expect.poll(() => shards.companiesIn('deliveries')).toEqual(shards.expected(companies));
  await recorder.drain();
  await noCompanyIn('event_outbox');
});

test('retention asks for new counts of held deliveries in every shard', async () => {
  for (const id of companies)
    await shards.of(id).query(`UPDATE ${shards.of(id).name}.delivery_queues SET held_deliveries = 1`);
  // The companies are found by a query that vtgate sends to all shards.
  const { db } = shards;
  for (const id of companies)
    await db
      .insertInto('delivery_queues')
      .values({ company_id: id, subscription_id: id, held_deliveries: 1 } as never)
      .execute();
  await recountHeld(db, now());
  for (const own of new Set(companies.map((id) => shards.of(id))))
    expect(await own.query(`SELECT 1 FROM ${own.name}.delivery_queues WHERE count_held_utc IS NULL`)).toEqual(
      [],
    );
});
