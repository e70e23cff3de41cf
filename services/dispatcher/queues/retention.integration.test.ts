import { outboxLeaseMs } from '@causeway/proto';
import { readPartitions } from '@causeway/runtime';
import { beforeAll, describe, expect, test } from 'vitest';
import { fanOutEvents } from '../fan-out/fan-out-events.ts';
import { datedTables } from '../service.ts';
import { type Tables, tenantTables } from '../tables.ts';
import { openWorld, type World } from '../testing/boot.ts';
import { recountWaiting } from './recounts.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ withDays: false });
});

test('Dispatchers that start at once add the partitions, and count held deliveries of days that they drop', async () => {
  const { database } = world;
  const db = database.connect<Tables>({ tenantTables });
  const subscription = await world.subscribe('http://127.0.0.1:9/');
  const ids = [subscription.company_id, subscription.subscription_id];
  const days = (count: number) => new Date(Date.now() - count * 86_400_000);
  await database.query(`ALTER TABLE deliveries REORGANIZE PARTITION future INTO (
    PARTITION p20200101 VALUES LESS THAN ('2020-01-02'), PARTITION future VALUES LESS THAN (MAXVALUE))`);
  for (const [eventId, created] of [
    [1, new Date('2020-01-01T12:00:00Z')],
    [2, days(1)],
  ])
    await database.query(
      `INSERT INTO deliveries (company_id, subscription_id, event_id, created_utc, event_type, state, updated_utc)
       VALUES (?, ?, ?, ?, 'client.created', 'held', NOW(3))`,
      [...ids, eventId, created],
    );
  await database.query(
    'UPDATE delivery_queues SET held_deliveries = 2 WHERE company_id = ? AND subscription_id = ?',
    ids,
  );
  await Promise.all([world.start({ retentionDays: 3 }), world.start({ retentionDays: 3 })]);
  for (const table of datedTables)
    await expect
      .poll(() => readPartitions(db, table))
      .toSatisfy((names: readonly string[]) => names.length >= 9 && !names.includes('p20200101'));
  await expect
    .poll(async () => {
      const [queue] = await database.query<{ held_deliveries: number }>(
        'SELECT held_deliveries FROM delivery_queues WHERE company_id = ? AND subscription_id = ?',
        ids,
      );
      return queue!.held_deliveries;
    })
    .toBe(1);
  expect(await readPartitions(db, 'events')).toEqual(['future']);
});

describe('Counts of waiting deliveries', () => {
  const now = () => new Date();

  test('The bound is lowered to the count in the background, and stays a bound while others write', async () => {
    const world = await openWorld();
    const { database } = world;
    const db = database.connect<Tables>({ tenantTables });
    const query = async (sql: string): Promise<number> =>
      Number((await database.query<{ value: number }>(`SELECT ${sql} AS value`))[0]!.value);
    const waiting = () => query("(SELECT COUNT(*) FROM deliveries WHERE state = 'waiting')");
    const bound = () => query('(SELECT waiting_bound FROM webhook_companies)');
    const subscription = await world.subscribe('http://127.0.0.1:9/');
    const fanOut = async (count: number): Promise<void> => {
      const events = await world.deliver(subscription, count, { by: 'outbox' });
      const arrived = events.map((event) => ({
        ...event,
        type: 'client.created' as const,
        leaseMs: event.created_utc.getTime() + outboxLeaseMs,
      }));
      await fanOutEvents(db, arrived, { now, waitingQuota: 100 });
    };
    await fanOut(90);
    await database.query("UPDATE deliveries SET state = 'succeeded', due_utc = NULL");
    await fanOut(5);
    expect(await bound()).toBe(95);
    // A row that a writer has locked is skipped until the next look.
    const recount = async (): Promise<void> => {
      while ((await recountWaiting({ db, quota: 100, now })) === 0);
    };
    await Promise.all([recount(), fanOut(3)]);
    const after = await bound();
    expect(await waiting()).toBe(8);
    // Deliveries written during the count may be counted twice.
    expect([8, 11]).toContain(after);
    expect(await recountWaiting({ db, quota: 100, now })).toBe(0);
  });
});
