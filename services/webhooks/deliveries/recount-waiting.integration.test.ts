import { expect, test } from 'vitest';
import { bootWebhooks } from '../testing/boot.ts';
import { commitEvents, makeSubscription, startFanOut, until } from '../testing/events.ts';
import { recountWaiting } from './recount-waiting.ts';

const company = 5001;
const now = () => new Date();

test('The bound is lowered to the count in the background, and stays a bound while others write', async () => {
  const { database, db } = await bootWebhooks({ services: 0 });
  const query = async (sql: string): Promise<number> =>
    Number((await database.query<{ value: number }>(`SELECT ${sql} AS value`))[0]!.value);
  const waiting = () => query("(SELECT COUNT(*) FROM deliveries WHERE state = 'waiting')");
  const bound = () => query('(SELECT waiting_bound FROM webhook_companies)');
  const fanOut = async (count: number): Promise<void> => {
    await commitEvents(
      db,
      company,
      Array.from({ length: count }, () => ({})),
    );
    await until('an empty outbox', async () => (await query('(SELECT COUNT(*) FROM event_outbox)')) === 0);
  };
  await makeSubscription(db, company);
  startFanOut(database, 100);
  await fanOut(90);
  await database.query("UPDATE deliveries SET state = 'succeeded', due_utc = NULL");
  await fanOut(5);
  expect(await bound()).toBe(95);
  const [counted] = await Promise.all([recountWaiting({ db, quota: 100, now }), fanOut(3)]);
  expect(counted).toBe(1);
  const after = await bound();
  expect(await waiting()).toBe(8);
  // Deliveries written during the count may be counted twice.
  expect([8, 11]).toContain(after);
  expect(await recountWaiting({ db, quota: 100, now })).toBe(0);
});
