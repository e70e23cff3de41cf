import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { connectDatabase, createIds, parseMysqlUrl } from '@causeway/runtime';
import { cleanUp, compileCache, testDatabase } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { migrationFolders } from '../../migrate/config.ts';
import { MoveAheadError, moveAhead } from './move-ahead.ts';

const folders = migrationFolders(join(import.meta.dirname, '../../..'));

const restored = async () => {
  const { url, name, query } = await testDatabase({ folders });
  await query('USE information_schema');
  return { url, query: (sql: string) => query(sql.replaceAll('here.', `${name}.`)) };
};
const now = '2026-03-01 09:30:00';

test('the auto-increment of every table moves ahead, with or without rows', async () => {
  const { url, query } = await restored();
  await query(`INSERT INTO here.companies (name, created_utc) VALUES ('One', '${now}')`);
  await query(`INSERT INTO here.events (company_id, sequence, created_utc, event_id, type, payload)
    VALUES (1001, 1, '${now}', 700, 'client.created', '{}')`);
  const { nextIds } = await moveAhead(url, 5_000);
  expect(nextIds).toMatchObject({ companies: 6_002, events: 5_701, clients: 5_001, statuses: 6_000 });

  const { insertId } = (await query(
    `INSERT INTO here.companies (name, created_utc) VALUES ('Two', '${now}')`,
  )) as unknown as { insertId: number };
  expect(insertId).toBe(6_002);
  const still = await query(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE CONCAT(table_schema, '.') = 'here.' AND extra LIKE '%auto_increment%'`,
  );
  expect(still.map((row) => row.name).sort()).toEqual(Object.keys(nextIds).sort());
});

test('the blocks of ids that processes take are ahead too', async () => {
  const { url } = await restored();
  const db = connectDatabase<object>({ url, poolSize: 2, tenantTables: new Set() });
  const row = { company_id: 0, status_id: 1, first_name: '', last_name: '', email: '' };
  const table = { table: 'clients', id: 'client_id', row };
  const [before] = await createIds(db, table).take(1);
  await db.close();
  await moveAhead(url, 5_000_000);
  const again = connectDatabase<object>({ url, poolSize: 2, tenantTables: new Set() });
  cleanUp(() => again.close());
  const [after] = await createIds(again, table).take(1);
  expect(after! - before!).toBeGreaterThan(5_000_000);
});

test('the event numbers of every company move ahead, even without events', async () => {
  const { url, query } = await restored();
  await query(`INSERT INTO here.companies (name, created_utc) VALUES ('One', '${now}'), ('Two', '${now}')`);
  await query('INSERT INTO here.event_sequences (company_id, last_sequence) VALUES (1001, 40)');
  expect(await moveAhead(url, 1_000)).toMatchObject({ companies: 2 });
  const last = 'SELECT company_id, last_sequence FROM here.event_sequences ORDER BY company_id';
  expect(await query(last)).toEqual([
    { company_id: 1001, last_sequence: 1_040 },
    { company_id: 1002, last_sequence: 1_000 },
  ]);
  await moveAhead(url, 1_000);
  expect(await query(last)).toMatchObject([{ last_sequence: 2_040 }, { last_sequence: 2_000 }]);
});

test('nothing changes while another client is connected', async () => {
  const { url, query } = await restored();
  await query('INSERT INTO here.event_sequences (company_id, last_sequence) VALUES (1001, 40)');
  const other = await createConnection(parseMysqlUrl(url));
  const refusal = await moveAhead(url, 1_000).catch((error: unknown) => error);
  await other.end();
  expect(refusal).toBeInstanceOf(MoveAheadError);
  expect((refusal as Error).message).toContain('stop every service first');
  expect(await query('SELECT last_sequence FROM here.event_sequences')).toEqual([{ last_sequence: 40 }]);
});

test('nothing changes without the privilege to see other connections', async () => {
  const { url, query } = await restored();
  const user = `move_${randomBytes(4).toString('hex')}`;
  await query(`CREATE USER ${user} IDENTIFIED BY 'secret'`);
  cleanUp(async () => void (await query(`DROP USER ${user}`)));
  await query(`GRANT ALL ON here.* TO ${user}`);
  const theirs = new URL(url);
  theirs.username = user;
  theirs.password = 'secret';
  await expect(moveAhead(theirs.href, 1_000)).rejects.toThrow('GRANT PROCESS ON *.* to it');
  await query(`GRANT PROCESS ON *.* TO ${user}`);
  expect(await moveAhead(theirs.href, 1_000)).toMatchObject({ companies: 0 });
});

test('the command reports its result, and wrong arguments', async () => {
  const { url } = await restored();
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
      env: { ...compileCache, MYSQL_URL: url },
      encoding: 'utf8',
    });
  expect(run('--ahead', '0')).toMatchObject({
    status: 78,
    stderr: 'restored: --ahead takes a positive whole number\n',
  });
  const done = run();
  expect(done).toMatchObject({ status: 0, stderr: '' });
  expect(done.stdout).toContain('events continues with id 10000001\n');
  expect(done.stdout).toContain('portal_sessions: 0 ended\n');
});
