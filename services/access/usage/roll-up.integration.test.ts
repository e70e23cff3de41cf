import { spawn } from 'node:child_process';
import { until } from '@causeway/runtime/testing/until';
import { createConnection } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { testWorld } from '../testing/boot.ts';
import { rollUpMinutes } from './roll-up.ts';

const world = await testWorld();
const { query } = world.database;
const db = world.openDb();
const now = () => new Date('2026-03-10T12:30:00Z');

interface Sums {
  readonly company_id: number;
  readonly answered: number;
  readonly limited: number;
  readonly failed: number;
  readonly peak: number;
}

const sums = (): Promise<Sums[]> =>
  query<Sums>(
    `SELECT company_id, key_id, bucket, CAST(SUM(answered) AS SIGNED) AS answered, CAST(SUM(limited) AS SIGNED) AS limited,
     CAST(SUM(failed) AS SIGNED) AS failed, MAX(IF(peak > 0, peak, answered + limited)) AS peak
     FROM request_minutes GROUP BY company_id, key_id, bucket ORDER BY company_id, key_id, bucket`,
  );
const times = async (company: number) =>
  (
    await query<{ minute_utc: Date }>(
      'SELECT minute_utc FROM request_minutes WHERE company_id = ? ORDER BY minute_utc',
      [company],
    )
  ).map(({ minute_utc }) => minute_utc.toISOString());

/** Five hours that end 47 hours and a half ago, with a row for each minute. */
const fill = async (...companies: readonly number[]) => {
  await query('DELETE FROM request_minutes');
  for (const company of companies)
    await query(
      `INSERT INTO request_minutes (company_id, minute_utc, key_id, bucket, answered, limited, failed)
       WITH RECURSIVE n AS (SELECT 0 AS at UNION ALL SELECT at + 1 FROM n WHERE at < 299)
       SELECT ?, TIMESTAMP '2026-03-08 08:00:00' + INTERVAL at MINUTE, 1 + at MOD 2, 'read', 1 + at MOD 7, at MOD 3, 1 FROM n`,
      [company],
    );
};

test('minutes become hours after 48 hours, with the same sums and peaks, however often and by however many replicas', async () => {
  await fill(1, 2);
  const before = await sums();
  await Promise.all([
    rollUpMinutes({ db, now }),
    rollUpMinutes({ db, now }),
    rollUpMinutes({ db: world.openDb(), now }),
  ]);
  expect(await rollUpMinutes({ db, now })).toBe(0);
  expect(await sums()).toEqual(before);
  const hours = ['08', '09', '10', '11'].flatMap((hour) => Array(2).fill(`2026-03-08T${hour}:00:00.000Z`));
  expect((await times(1)).slice(0, 8)).toEqual(hours);
  expect(await times(1)).toHaveLength(8 + 60);
});

test('a count that comes late is added to its hour', async () => {
  await fill(1);
  await rollUpMinutes({ db, now });
  await query(
    "INSERT INTO request_minutes (company_id, minute_utc, key_id, bucket, answered) VALUES (1, '2026-03-08 09:17:00', 1, 'read', 50)",
  );
  const before = await sums();
  expect(await rollUpMinutes({ db, now })).toBe(1);
  expect(await sums()).toEqual(before);
  expect(await times(1)).toHaveLength(8 + 60);
});

test('killed in the middle, nothing is double and nothing lost', async () => {
  await fill(1, 2, 3, 4, 5, 6, 7, 8);
  const before = await sums();
  const program = `
    import { connectDatabase } from '@causeway/runtime';
    import { tenantTables } from ${JSON.stringify(new URL('../schema.ts', import.meta.url).href)};
    import { rollUpMinutes } from ${JSON.stringify(new URL('./roll-up.ts', import.meta.url).href)};
    const db = connectDatabase({ url: process.env.DATABASE, poolSize: 1, tenantTables });
    console.log('begun');
    await rollUpMinutes({ db, now: () => new Date(${now().getTime()}) });
    process.exit();`;
  // The process waits for a minute in the middle of its work.
  const holder = await createConnection(world.database.url);
  await holder.beginTransaction();
  await holder.query(
    "SELECT 1 FROM request_minutes WHERE company_id = 5 AND minute_utc = '2026-03-08 09:30:00' FOR UPDATE",
  );
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', program], {
    cwd: new URL('..', import.meta.url).pathname,
    env: { ...process.env, DATABASE: world.database.url },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await until('some companies are rolled up', async () => (await times(4)).length === 68);
  expect(await times(5)).toHaveLength(2 + 240);
  child.kill('SIGKILL');
  await ended;
  await holder.end();
  expect(await sums()).toEqual(before);
  await rollUpMinutes({ db, now });
  expect(await sums()).toEqual(before);
  expect(await times(8)).toHaveLength(68);
});
