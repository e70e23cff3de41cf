import { join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import {
  cleanUp,
  compileCache,
  startProgram,
  type TestDatabase,
  type TestProgram,
  testDatabase,
  waitsForLock,
} from '@causeway/runtime/testing';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { migrationFolders } from '../../migrate/folders.ts';
import { type Cells, cancelMove, copyCompany, dropCompany, prepareCell } from './move.ts';
import { openCell, rowsOf, tablesOf } from './sql.ts';

// The program that moves a company, on the databases of two cells: killed and repeated, cancelled, and moving back.
// `cells.nightly.integration.test.ts` walks the whole move with services.

const root = join(import.meta.dirname, '../../..');
const folders = migrationFolders(root);
/** The first cell, and a second one. */
const [north, south] = [await testDatabase({ folders }), await testDatabase({ folders })];
const staying = 1001;
/** Another company in each test. */
let moving = staying;

beforeAll(async () => {
  await north.query('INSERT INTO sealed_keys (name, sealed) VALUES (?, ?)', ['cursors', Buffer.alloc(9)]);
  await run([north, south], (cells) => prepareCell(cells, 1));
  await furnish(north, staying);
});
beforeEach(async () => {
  moving++;
  await furnish(north, moving);
});

/** Creates a company that has rows of many kinds. */
const furnish = async ({ query }: TestDatabase, company: number): Promise<void> => {
  const numbers = `WITH RECURSIVE n AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM n WHERE n < 700)`;
  const at = `TIMESTAMPADD(SECOND, n, '2026-03-01')`;
  await query(`INSERT INTO companies (company_id, name, created_utc) VALUES (${company}, 'Acme', '2026-03-01');
    INSERT INTO api_keys (company_id, name, key_hash, prefix, last4, scopes, created_utc)
      VALUES (${company}, 'k', UNHEX(SHA2('${company}', 256)), 'crm', 'abcd', 'admin', '2026-03-01');
    INSERT INTO event_sequences (company_id, last_sequence) VALUES (${company}, 700);
    INSERT INTO events (company_id, sequence, created_utc, type, payload)
      ${numbers} SELECT ${company}, n, ${at}, 'client.created', '{}' FROM n;
    INSERT INTO subscriptions (company_id, subscription_id, url, event_types, secret, created_utc, updated_utc)
      ${numbers} SELECT ${company}, ${company} * 10 + n, 'https://hooks.example.com', '[]', 'x', ${at}, ${at}
      FROM n WHERE n <= 2;
    INSERT INTO delivery_queues (company_id, subscription_id, next_due_utc, count_held_utc)
      ${numbers} SELECT ${company}, ${company} * 10 + n, ${at}, ${at} FROM n WHERE n <= 2;
    INSERT INTO deliveries (company_id, event_id, subscription_id, created_utc, event_type, state, due_utc, updated_utc)
      ${numbers} SELECT ${company}, n, ${company} * 10 + 1 + n % 2, ${at}, 'client.created',
        IF(n % 7 = 0, 'succeeded', 'waiting'), IF(n % 7 = 0, NULL, ${at}), ${at} FROM n;
    INSERT INTO replays (company_id, subscription_id, kind, filter, total, next_page_utc, created_utc)
      VALUES (${company}, ${company} * 10 + 1, 'failed', '{}', 9, '2026-03-02', '2026-03-01');
    INSERT INTO webhook_companies (company_id, subscriptions_created, recount_utc)
      VALUES (${company}, 2, '2026-03-02')`);
};

/** As access does; long enough ago that nobody writes to the company any more. */
const close = ({ query }: TestDatabase) =>
  query(
    'UPDATE companies SET closed_utc = UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, version = version + 1 WHERE company_id = ?',
    [moving],
  );
const open = ({ query }: TestDatabase) =>
  query('UPDATE companies SET closed_utc = NULL, version = version + 1 WHERE company_id = ?', [moving]);

/** Does in this process what the program does, from the first database to the second. @returns what it says. */
const run = async (
  [from, to]: readonly [TestDatabase, TestDatabase],
  work: (cells: Cells) => Promise<void>,
): Promise<string> => {
  const lines: string[] = [];
  const connections = [await openCell(from.url), await openCell(to.url)] as const;
  try {
    await work({ from: connections[0], to: connections[1], say: (line) => lines.push(line) });
    return lines.join('\n');
  } finally {
    for (const connection of connections) await connection.end();
  }
};
const copyTo = (cell: number) => (cells: Cells) => copyCompany(cells, moving, cell);
const cancel = (cells: Cells) => cancelMove(cells, moving);
const drop = (cells: Cells) => dropCompany(cells, moving);

/** Starts the program itself, to be killed: it copies to the second cell. */
const startCopy = (): TestProgram => {
  const program = startProgram(
    process.execPath,
    [join(import.meta.dirname, 'main.ts'), 'copy', '--company', String(moving), '--cell', '1'],
    {
      env: {
        PATH: readEnv().PATH,
        ...compileCache,
        FROM_MYSQL_URL: north.url,
        TO_MYSQL_URL: south.url,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  cleanUp(async () => void (await program.end('SIGKILL')));
  return program;
};

/** Every row of a company but the one in `companies`, by table. */
const rowsOfCompany = async ({ url }: TestDatabase, id = moving) => {
  const connection = await openCell(url);
  try {
    const found: Record<string, readonly object[]> = {};
    for (const { name, columns, key } of await tablesOf(connection)) {
      if (name === 'companies') continue;
      const order =
        key.length > 0
          ? ` ORDER BY ${key.map((column) => `\`${column}\` + 0, \`${column}\``).join(', ')}`
          : '';
      const rows = await rowsOf(
        connection,
        `SELECT ${columns.map((column) => `\`${column}\``).join(', ')} FROM \`${name}\` WHERE company_id = ?${order}`,
        [id],
      );
      if (rows.length > 0) found[name] = rows.map((row) => ({ ...row }));
    }
    return found;
  } finally {
    await connection.end();
  }
};

/** Whether and where the company is open. */
const placeOf = async () => {
  const of = async ({ query }: TestDatabase) => {
    const [row] = await query<{ closed_utc: Date | null }>(
      'SELECT closed_utc FROM companies WHERE company_id = ?',
      [moving],
    );
    if (!row) return 'absent';
    return row.closed_utc === null ? 'open' : 'closed';
  };
  return [await of(north), await of(south)];
};

/** Holds locks until released, so that the program stops in a place that the test chose. */
const hold = async ({ url }: TestDatabase, ...statements: readonly string[]) => {
  const connection = await openCell(url);
  let ending: Promise<void> | undefined;
  const release = () => {
    ending ??= connection.end();
    return ending;
  };
  cleanUp(release);
  for (const statement of statements) await connection.query(statement);
  return release;
};

test('a move that is killed anywhere is repeated, and every row arrives once, unchanged', async () => {
  const before = await rowsOfCompany(north);
  const neighbour = await rowsOfCompany(north, staying);
  const killedWhile = async (where: TestDatabase, ...statements: readonly string[]) => {
    const release = await hold(where, ...statements);
    const mover = startCopy();
    await waitsForLock(where);
    await mover.end('SIGKILL');
    await release();
  };

  // While the company is open.
  await killedWhile(south, 'LOCK TABLES events READ');
  expect(await placeOf()).toEqual(['open', 'absent']);
  expect(await rowsOfCompany(north)).toEqual(before);
  expect(await run([north, south], copyTo(1))).toMatch(/still open/);

  await close(north);
  // While it parks the second queue, copies deliveries, and hands over.
  await killedWhile(
    north,
    'START TRANSACTION',
    `SELECT 1 FROM delivery_queues WHERE company_id = ${moving} AND subscription_id = ${moving * 10 + 2} FOR UPDATE`,
  );
  await killedWhile(south, 'LOCK TABLES deliveries READ');
  await killedWhile(south, 'LOCK TABLES companies READ');
  expect(await placeOf()).toEqual(['closed', 'absent']);

  expect(await run([north, south], copyTo(1))).toMatch(/was handed over; open it/);
  expect(await placeOf()).toEqual(['closed', 'closed']);
  expect(await rowsOfCompany(south)).toEqual(before);
  // Killed before it could say so, it is repeated without a change.
  await open(south);
  await south.query('DELETE FROM replays WHERE company_id = ?', [moving]);
  expect(await run([north, south], copyTo(1))).toMatch(/handed over already/);
  expect((await rowsOfCompany(south)).replays).toBeUndefined();
  expect(await rowsOfCompany(north, staying)).toEqual(neighbour);
  expect(await rowsOfCompany(south, staying)).toEqual({});
});

test('a cancelled move leaves the company as it was, and what was copied can be deleted', async () => {
  const before = await rowsOfCompany(north);
  await close(north);
  const release = await hold(south, 'LOCK TABLES companies READ');
  const mover = startCopy();
  await waitsForLock(south);

  // Not while the mover works, and not once it has handed over.
  process.kill(mover.child.pid!, 'SIGSTOP');
  await expect(run([north, south], cancel)).rejects.toThrow(`another program is moving company ${moving}`);
  await mover.end('SIGKILL');
  await release();
  expect(await rowsOfCompany(south)).not.toEqual({});

  await run([north, south], cancel);
  expect(await rowsOfCompany(north)).toEqual(before);
  expect(await placeOf()).toEqual(['closed', 'absent']);
  // The rows of the company itself are safe from both directions.
  await expect(run([north, south], drop)).rejects.toThrow(/is not open in the other cell/);
  await open(north);
  await expect(run([north, south], drop)).rejects.toThrow(/is not closed in the cell that it has left/);
  await run([south, north], drop);
  expect(await rowsOfCompany(south)).toEqual({});
  expect(await rowsOfCompany(north)).toEqual(before);

  // A later move succeeds, and cannot be cancelled once it is over.
  await close(north);
  await run([north, south], copyTo(1));
  expect(await rowsOfCompany(south)).toEqual(before);
  await expect(run([north, south], cancel)).rejects.toThrow(/was handed over; move it back instead/);
  expect(await placeOf()).toEqual(['closed', 'closed']);
});

test('a company moves back, with what has changed meanwhile and without what it left behind', async () => {
  await close(north);
  await run([north, south], copyTo(1));
  await open(south);
  // Its key is revoked, events and deliveries come and go.
  await south.query(`UPDATE api_keys SET is_active = 0, revoked_utc = '2026-04-01', version = version + 1 WHERE company_id = ${moving};
    INSERT INTO events (company_id, sequence, created_utc, type, payload)
      VALUES (${moving}, 701, '2026-04-01', 'client.created', '{}');
    UPDATE event_sequences SET last_sequence = 701 WHERE company_id = ${moving};
    UPDATE deliveries SET state = 'succeeded', due_utc = NULL WHERE company_id = ${moving} AND event_id < 100;
    DELETE FROM deliveries WHERE company_id = ${moving} AND event_id > 650;
    DELETE FROM replays WHERE company_id = ${moving}`);
  const changed = await rowsOfCompany(south);
  const [late] = await south.query<{ id: number }>('SELECT MAX(event_id) AS id FROM events');
  expect(late!.id).toBeGreaterThan(10 ** 12);

  expect(await run([south, north], copyTo(0))).toMatch(/still open/);
  await close(south);
  expect(await run([south, north], copyTo(0))).toMatch(/was handed over; open it/);
  await open(north);
  expect(await placeOf()).toEqual(['open', 'closed']);
  expect(await rowsOfCompany(north)).toEqual(changed);
  // The first cell goes on with ids that the second one never assigns.
  await furnish(north, 1900);
  const [next] = await north.query<{ id: number }>(
    'SELECT MIN(event_id) AS id FROM events WHERE company_id = 1900',
  );
  expect(Math.floor(next!.id / 10 ** 12) % 32).toBe(0);
  expect(next!.id).toBeGreaterThan(late!.id);

  await run([south, north], drop);
  expect(await rowsOfCompany(south)).toEqual({});
  expect(await rowsOfCompany(north)).toEqual(changed);
});
