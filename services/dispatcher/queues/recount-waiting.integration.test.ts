import { outboxLeaseMs } from '@causeway/proto';
import { expect, test } from 'vitest';
import { fanOutEvents } from '../fan-out/fan-out-events.ts';
import { type Tables, tenantTables } from '../tables.ts';
import { openWorld } from '../testing/boot.ts';
import { recountWaiting } from './recounts.ts';

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
