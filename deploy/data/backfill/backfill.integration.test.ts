import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseMysqlUrl } from '@causeway/runtime';
import { compileCache, testDatabase } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { migrationFolders } from '../../migrate/config.ts';
import { backfill } from './backfill.ts';

const folders = migrationFolders(join(import.meta.dirname, '../../..'));

const withDeliveries = async () => {
  const { url, query } = await testDatabase({ folders });
  await query(
    `INSERT INTO deliveries (company_id, event_id, subscription_id, created_utc, event_type, updated_utc)
     WITH RECURSIVE n AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM n WHERE n < 500)
     SELECT n % 3 + 1, n DIV 6, n % 2, TIMESTAMPADD(MICROSECOND, n * 7000, '2026-03-01'), 'client.created', '2026-03-01' FROM n`,
  );
  return { url, query };
};
const marked = { table: 'deliveries', set: 'attempts = attempts + 1', where: 'attempts = 0' };

test('every row is changed exactly once, wherever chunks end', async () => {
  for (const chunkRows of [1, 7, 500, 1_000]) {
    const { url, query } = await withDeliveries();
    if (chunkRows === 1) await query('DELETE FROM deliveries WHERE event_id > 5');
    const [all] = await query<{ n: number }>('SELECT COUNT(*) AS n FROM deliveries');
    let looked = 0;
    const onChunk = (rows: number) => {
      expect(rows - looked).toBeLessThanOrEqual(chunkRows);
      looked = rows;
    };
    expect(await backfill(url, { ...marked, chunkRows, pauseMs: 0, onChunk })).toBe(all?.n);
    expect(looked).toBe(all?.n);
    expect(await query('SELECT DISTINCT attempts FROM deliveries')).toEqual([{ attempts: 1 }]);
    expect(await backfill(url, { ...marked, chunkRows, pauseMs: 0 })).toBe(0);
  }
});

test('the backfill waits for a locked row', async () => {
  const { url, query } = await withDeliveries();
  const other = await createConnection(parseMysqlUrl(url));
  await other.query('START TRANSACTION');
  await other.query('UPDATE deliveries SET state = state WHERE company_id = 2 AND event_id = 40');
  let done = false;
  const filling = backfill(url, { ...marked, pauseMs: 0 }).finally(() => {
    done = true;
  });
  // Longer than the lock wait timeout, so that the backfill must retry the chunk.
  await query('DO SLEEP(2.5)');
  expect(done).toBe(false);
  await other.query('COMMIT');
  await other.end();
  expect(await filling).toBe(500);
});

test('the command makes the given change, and requires all three arguments', async () => {
  const { url } = await withDeliveries();
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
      env: { ...compileCache, MYSQL_URL: url },
      encoding: 'utf8',
    });
  expect(run('--table', 'deliveries', '--set', 'attempts = 1')).toMatchObject({ status: 78 });
  const told = ['--table', 'deliveries', '--set', 'attempts = 1', '--where', 'attempts = 0'];
  expect(run(...told)).toMatchObject({ status: 0, stdout: '500 rows changed\n', stderr: '' });
  expect(run(...told)).toMatchObject({ status: 0, stdout: '0 rows changed\n' });
});
