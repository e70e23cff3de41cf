import { setTimeout as sleep } from 'node:timers/promises';
import {
  createLog,
  createMetrics,
  type Database,
  keepDays,
  readPartitions,
  startRetention,
} from '@causeway/runtime';
import { testDatabase } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { type Tables, tenantTables } from '../tables.ts';
import { bootWebhooks, webhooksMigrations } from '../testing/boot.ts';
import { makeDelivery, makeEvents } from '../testing/make.ts';

const dayMs = 86_400_000;
/** Of `webhooks` and the dispatcher, which keep them in the same way. */
const tables = ['events', 'deliveries', 'delivery_attempts', 'delivery_minutes'];
const { log } = createLog({ name: 'webhooks', instance: 'test', level: 'silent' });

const world = async (days: number) => {
  const database = await testDatabase({ folders: webhooksMigrations, withDays: false });
  const clock = { now: new Date() };
  const db = database.connect<Tables>({ tenantTables, poolSize: 12 });
  return {
    database,
    db,
    clock,
    keep: () => keepDays({ db, log, tables, lock: 'retention', days, now: () => clock.now }),
  };
};
const name = (date: Date): string => `p${date.toISOString().slice(0, 10).replaceAll('-', '')}`;
const after = (date: Date, days: number): Date => new Date(date.getTime() + days * dayMs);
const count = async (db: Database<Tables>, table: 'events' | 'deliveries', companyId: number) =>
  (
    await db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('rows'))
      .where('company_id', '=', companyId)
      .executeTakeFirstOrThrow()
  ).rows;

test('every partitioned table gets its days, keeps its rows, and loses expired days', async () => {
  const { db, clock, keep } = await world(2);
  const today = clock.now;
  await makeEvents(db, 1, [{}, {}]);
  await makeDelivery(db, { company_id: 1, subscription_id: 1, state: 'held', due_utc: null }, 3);
  await keep();
  for (const table of tables)
    expect(await readPartitions(db, table)).toEqual([
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((days) => name(after(today, days))),
      'future',
    ]);
  expect([await count(db, 'events', 1), await count(db, 'deliveries', 1)]).toEqual([2, 3]);

  clock.now = after(today, 2);
  await makeEvents(db, 1, [{ created_utc: clock.now }]);
  await keep();
  expect([await count(db, 'events', 1), await count(db, 'deliveries', 1)]).toEqual([3, 3]);
  clock.now = after(today, 3);
  await keep();
  for (const table of tables) {
    const names = await readPartitions(db, table);
    expect([names[0], names.at(-2)]).toEqual([name(after(today, 1)), name(after(today, 10))]);
  }
  expect([await count(db, 'events', 1), await count(db, 'deliveries', 1)]).toEqual([1, 0]);
});

test('one replica at a time acts, and every starting replica finds the partitions', async () => {
  const { db, keep } = await world(30);
  const results = await Promise.all(Array.from({ length: 4 }, keep));
  expect(results).toContain(true);
  expect(results).toContain(false);
  for (const table of tables) expect(await readPartitions(db, table)).toHaveLength(9);
  expect(await keep()).toBe(true);
});

test('a starting service adds the partitions of the event log, and no others', async () => {
  const database = await testDatabase({ folders: webhooksMigrations, withDays: false });
  const { db } = await bootWebhooks({ database, retentionDays: 3 });
  await expect.poll(async () => (await readPartitions(db, 'events')).length).toBe(9);
  expect(await readPartitions(db, 'deliveries')).toEqual(['future']);
});

test('a clock that is days ahead of the process drops nothing', async () => {
  const { db, clock, keep } = await world(2);
  const today = clock.now;
  await keep();
  await makeEvents(db, 1, [{}]);
  const retention = startRetention({
    ...{ db, log, tables, lock: 'retention', days: 2, now: () => after(today, 30) },
    metrics: createMetrics(),
  });
  await retention.stop();
  expect((await readPartitions(db, 'events'))[0]).toBe(name(today));
  expect(await count(db, 'events', 1)).toBe(1);
});

test('the cleanup waits at most a second for a long transaction, and finishes later', async () => {
  const { db, clock, keep } = await world(30);
  await keep();
  await makeEvents(db, 1, [{}]);
  const long = await db.startTransaction().execute();
  await long.selectFrom('events').select('event_id').where('company_id', '=', 1).execute();
  clock.now = after(clock.now, 1);
  const refused = expect(keep()).rejects.toMatchObject({ errno: 1205 });
  await sleep(50);
  // Behind a cleanup that waits for as long as the transaction, this write would wait for its end.
  await makeEvents(db, 1, [{}]);
  await refused;
  await long.commit().execute();
  expect(await keep()).toBe(true);
  expect(await readPartitions(db, 'events')).toContain(name(after(clock.now, 7)));
});
