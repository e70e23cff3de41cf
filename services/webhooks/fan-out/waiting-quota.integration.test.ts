import type { Database } from '@causeway/runtime';
import { type TestDatabase, testDatabase } from '@causeway/runtime/testing';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { recountWaiting } from '../deliveries/recount-waiting.ts';
import { type Tables, tenantTables } from '../tables.ts';
import { webhooksMigrations } from '../testing/boot.ts';
import { commitEvents, makeSubscription } from '../testing/events.ts';
import { fanOutEvents } from './fan-out-events.ts';

let database: TestDatabase;
let db: Database<Tables>;
const company = 5001;
const now = () => new Date();

beforeEach(async () => {
  database = await testDatabase({ folders: webhooksMigrations });
  db = database.connect<Tables>({ tenantTables, poolSize: 8 });
});

/** Events that are fanned out to queues: nothing is announced. */
const fanOut = async (waitingQuota: number, count: number, type: 'client.created' | 'lead.created') => {
  const events = await commitEvents(
    db,
    company,
    Array.from({ length: count }, () => ({ type })),
  );
  return fanOutEvents(db, events, { now, publishes: false, leaseMs: 1_000, waitingQuota });
};
const countOf = async (sql: string): Promise<number> =>
  Number((await database.query<{ count: number }>(`SELECT ${sql} AS count`))[0]!.count);
const waiting = () => countOf("(SELECT COUNT(*) FROM deliveries WHERE state = 'waiting')");
const waitingOf = (id: number) =>
  countOf(`(SELECT COUNT(*) FROM deliveries WHERE state = 'waiting' AND subscription_id = ${id})`);
const missedOf = (id: number) =>
  countOf(`COALESCE((SELECT missed FROM missed_events WHERE subscription_id = ${id}), 0)`);
const bound = () => countOf('(SELECT waiting_bound FROM webhook_companies)');
const endAll = () => database.query("UPDATE deliveries SET state = 'succeeded', due_utc = NULL");

describe('QUOTA_WAITING_DELIVERIES', () => {
  test('A company never has more waiting deliveries than its quota, however many write at once', async () => {
    await makeSubscription(db, company);
    await makeSubscription(db, company);
    const events = await commitEvents(
      db,
      company,
      Array.from({ length: 400 }, () => ({})),
    );
    let most = 0;
    let writing = true;
    const watching = (async () => {
      while (writing) most = Math.max(most, await waiting());
    })();
    const parts = Array.from({ length: 16 }, (_, at) => events.slice(25 * at, 25 * (at + 1)));
    await Promise.all(
      parts.map((part) =>
        fanOutEvents(db, part, { now, publishes: false, leaseMs: 1_000, waitingQuota: 100 }),
      ),
    );
    writing = false;
    await watching;
    expect([most <= 100, await waiting()]).toEqual([true, 100]);
    expect(await countOf('(SELECT SUM(missed) FROM missed_events)')).toBe(800 - 100);
    expect(await countOf('(SELECT COUNT(*) FROM events)')).toBe(400);
    expect(await countOf('(SELECT COUNT(*) FROM event_outbox)')).toBe(0);
  });

  test('The subscription with the longest backlog misses events; another one of the company does not', async () => {
    const long = await makeSubscription(db, company);
    const short = await makeSubscription(db, company, { event_types: ['lead.created'] });
    await fanOut(50, 60, 'client.created');
    expect([await waitingOf(long), await missedOf(long)]).toEqual([50, 10]);
    await fanOut(50, 10, 'lead.created');
    expect([await waitingOf(short), await missedOf(short)]).toEqual([10, 0]);
    expect([await waitingOf(long), await missedOf(long)]).toEqual([40, 20]);
  });

  test('Deliveries that were already attempted are not dropped for another subscription', async () => {
    const long = await makeSubscription(db, company);
    const short = await makeSubscription(db, company, { event_types: ['lead.created'] });
    await fanOut(10, 10, 'client.created');
    await database.query('UPDATE deliveries SET attempts = 1 LIMIT 7');
    await fanOut(10, 5, 'lead.created');
    expect([await waitingOf(long), await waitingOf(short), await missedOf(short)]).toEqual([7, 3, 2]);
  });

  test('A company that has reached its quota does not affect another', async () => {
    await makeSubscription(db, company);
    await makeSubscription(db, company + 1);
    await fanOut(10, 30, 'client.created');
    const events = await commitEvents(db, company + 1, [{}, {}]);
    const { missed } = await fanOutEvents(db, events, {
      now,
      publishes: false,
      leaseMs: 1_000,
      waitingQuota: 10,
    });
    expect(missed).toEqual([]);
  });

  test('Deliveries that have ended make room at once, and nothing is missed below the quota', async () => {
    const id = await makeSubscription(db, company);
    for (let round = 0; round < 10; round++) {
      await fanOut(20, 20, 'client.created');
      await endAll();
    }
    expect(await missedOf(id)).toBe(0);
    expect(await countOf('(SELECT COUNT(*) FROM deliveries)')).toBe(200);
  });

  test('The bound is lowered to the count in the background, and stays a bound while others write', async () => {
    await makeSubscription(db, company);
    await fanOut(100, 90, 'client.created');
    await endAll();
    await fanOut(100, 5, 'client.created');
    expect(await bound()).toBe(95);
    const [counted] = await Promise.all([
      recountWaiting({ db, quota: 100, now }),
      fanOut(100, 3, 'client.created'),
    ]);
    expect(counted).toBe(1);
    const after = await bound();
    expect(await waiting()).toBe(8);
    // Deliveries written during the count may be counted twice.
    expect([8, 11]).toContain(after);
    expect(await recountWaiting({ db, quota: 100, now })).toBe(0);
  });

  test('Admitting waiting deliveries is one statement of a batch, and announcing first attempts needs none', async () => {
    await makeSubscription(db, company);
    await fanOut(1_000, 1, 'client.created');
    const one = database.connect<Tables>({ tenantTables, poolSize: 1 });
    const statements = async (): Promise<number> => {
      const { rows } = await sql<{ Value: string }>`SHOW SESSION STATUS LIKE 'Questions'`.execute(one);
      return Number(rows[0]!.Value);
    };
    const costOf = async (publishes: boolean): Promise<number> => {
      await database.query('UPDATE delivery_queues SET next_due_utc = NULL');
      const events = await commitEvents(
        db,
        company,
        Array.from({ length: 50 }, () => ({})),
      );
      const before = await statements();
      const made = await fanOutEvents(one, events, { now, publishes, leaseMs: 60_000 });
      expect([made.announced.length, made.deliveries]).toEqual([publishes ? 50 : 0, 50]);
      // Reading the counter of statements is one statement too.
      return (await statements()) - before - 1;
    };
    await costOf(false);
    // Begin, lock the outbox, read subscriptions, admit, write deliveries, empty the outbox, note queues, commit.
    expect(await costOf(false)).toBe(8);
    // Begin, lock the outbox, read subscriptions, lease, commit.
    expect(await costOf(true)).toBe(5);
  });
});
