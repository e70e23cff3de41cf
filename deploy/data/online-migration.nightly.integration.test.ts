import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate, parseMysqlUrl } from '@causeway/runtime';
import { cleanUp, provided, withDatabase } from '@causeway/runtime/testing';
import { createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { migrationFolders } from '../migrate/config.ts';
import { makeCompany, openCluster, restart, root, temporary } from './testing/cluster.ts';
import { type Release, releases } from './testing/release/rows.ts';
import { startTraffic } from './testing/traffic.ts';

// Renames a column that is read and written all the time, as README.md describes.

const releaseMain = join(import.meta.dirname, 'testing/release/main.ts');
/** A table that is in use is waited for a second at a time; what is more is a process that starts beside. */
const longestMs = 12_000;
const p99Ms = 4_000;
const oldClients = 10_000;

const name = `online_${randomBytes(6).toString('hex')}`;
const mysqlUrl = withDatabase(provided('mysqlUrl'), name);
const admin = await createConnection(parseMysqlUrl(provided('mysqlUrl')));
cleanUp(async () => {
  await admin.query('DROP DATABASE IF EXISTS ??', [name]);
  await admin.end();
});
const home = temporary('online');
const releaseFile = join(home, 'release');
const ours = { name: 'online', folder: temporary('online-migrations') };

const migrateBy = async (file: string, statement: string): Promise<readonly string[]> => {
  writeFileSync(join(ours.folder, file), statement);
  const { applied } = await migrate(mysqlUrl, [...migrationFolders(root), ours], { onWait: () => waits++ });
  return applied;
};
let waits = 0;

const roll = async (release: Release): Promise<void> => {
  writeFileSync(releaseFile, release);
  for (const process of ['crm-1', 'crm-2']) await restart(home, process);
};

/** @returns how many rows it changed. */
const fillPostalCodes = async (): Promise<number> => {
  const [[newest]] = await admin.query<(RowDataPacket & { id: number })[]>(
    'SELECT MAX(client_id) AS id FROM clients',
  );
  let changed = 0;
  for (let id = 0; id <= newest!.id; id += 500) {
    const [result] = await admin.query<ResultSetHeader>(
      'UPDATE clients SET postal_code = zip WHERE client_id BETWEEN ? AND ? AND NOT (postal_code <=> zip)',
      [id, id + 499],
    );
    changed += result.affectedRows;
  }
  return changed;
};

test('a column is renamed under load, and no request fails or waits long for it', {
  timeout: 600_000,
}, async () => {
  writeFileSync(releaseFile, releases[0]);
  const { stack } = await openCluster({
    home,
    mysqlUrl,
    env: { NODE_OPTIONS: `--import=${releaseMain}`, RELEASE_FILE: releaseFile },
    counts: ['--crm', '2'],
  });
  const company = await makeCompany(stack);
  await admin.query('USE ??', [name]);
  await admin.query("SET SESSION transaction_isolation = 'READ-COMMITTED'");
  await admin.query(
    `INSERT INTO clients (company_id, status_id, first_name, last_name, email, zip)
     WITH RECURSIVE n AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM n WHERE n < ?)
     SELECT /*+ SET_VAR(cte_max_recursion_depth = 100000) */
       ?, 20, 'Old', CONCAT('Client ', n), CONCAT(n, '@example.com'), CONCAT('Z', n) FROM n`,
    [oldClients, company.id],
  );
  const [old] = await admin.query<(RowDataPacket & { client_id: number; zip: string })[]>(
    'SELECT client_id, zip FROM clients WHERE company_id = ? ORDER BY client_id',
    [company.id],
  );
  const traffic = startTraffic(
    stack.baseUrl,
    company.key,
    new Map(old.map((one) => [one.client_id, one.zip])),
  );
  // Traffic meets the schema as it is.
  await sleep(500);

  // Expand. A report that reads the table for seconds blocks the change meanwhile.
  const report = await createConnection(parseMysqlUrl(mysqlUrl));
  cleanUp(() => report.end());
  await report.query('START TRANSACTION');
  await report.query('SELECT COUNT(*) FROM clients');
  // As long as a report that somebody runs: longer than the lock waits of the change.
  const ended = sleep(5_000).then(() => report.query('COMMIT'));
  const applied = await migrateBy(
    '001-add-postal-code.sql',
    'ALTER TABLE clients ADD COLUMN postal_code VARCHAR(16), ALGORITHM = INSTANT',
  );
  await ended;
  expect(waits).toBeGreaterThan(2);
  expect(applied).toEqual(['online/001-add-postal-code.sql']);

  // Migrate. New writes go to both columns, old rows are filled in, then the new column is read.
  await roll('writes both');
  expect(await fillPostalCodes()).toBeGreaterThan(oldClients / 2);
  expect(await fillPostalCodes()).toBe(0);
  await roll('reads postal_code');

  await roll('knows postal_code');
  await migrateBy('002-drop-zip.sql', 'ALTER TABLE clients DROP COLUMN zip, ALGORITHM = INSTANT');
  // Traffic meets the schema as it is.
  await sleep(500);

  const { expected, shots } = await traffic.stop();
  const failed = shots.filter(({ ok }) => !ok);
  expect(failed.map(({ what }) => what)).toEqual([]);
  const elapsed = shots.map(({ elapsedMs }) => elapsedMs).sort((a, b) => a - b);
  const p99 = elapsed[Math.floor(elapsed.length * 0.99)] ?? 0;
  const slowest = elapsed.at(-1) ?? 0;
  console.log(`${shots.length} requests, p99 ${p99.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`);
  expect(p99).toBeLessThan(p99Ms);
  expect(slowest).toBeLessThan(longestMs);

  const [rows] = await admin.query<(RowDataPacket & { client_id: number; postal_code: string | null })[]>(
    'SELECT client_id, postal_code FROM clients WHERE company_id = ?',
    [company.id],
  );
  expect(expected.size).toBeGreaterThan(oldClients);
  expect(new Map(rows.map((row) => [row.client_id, row.postal_code]))).toEqual(expected);
});
