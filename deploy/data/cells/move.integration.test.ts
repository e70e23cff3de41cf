import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readEnv } from '@causeway/runtime';
import {
  cleanUp,
  startProgram,
  type TestDatabase,
  type TestProgram,
  testDatabase,
} from '@causeway/runtime/testing';
import { expect, test, vi } from 'vitest';
import { migrationFolders } from '../../migrate/folders.ts';
import { openCell, rowsOf, tablesOf } from './sql.ts';

// The program that moves a company, killed and repeated, cancelled, and moving a company back, on the databases of two
// cells. `cells.integration.test.ts` walks the whole move with services.

const root = join(import.meta.dirname, '../../..');
const folders = migrationFolders(root);
const moving = 1001;
const staying = 1002;

interface TwoCells {
  readonly north: TestDatabase;
  readonly south: TestDatabase;
}

/** The first cell with two companies that have rows of many kinds, and an empty second one. */
const twoCells = async (): Promise<TwoCells> => {
  const [north, south] = [await testDatabase({ folders }), await testDatabase({ folders })];
  await north.query('INSERT INTO sealed_keys (name, sealed) VALUES (?, ?)', ['cursors', Buffer.alloc(9)]);
  expect(await run({ north, south }, ['prepare', '--cell', '1'])).toMatchObject({ code: 0 });
  for (const company of [moving, staying]) await furnish(north, company);
  return { north, south };
};

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

interface Direction {
  /** Moves from south to north. */
  readonly swapped?: boolean;
}

/** Starts the program that the guide names. */
const start = (
  { north, south }: TwoCells,
  args: readonly string[],
  { swapped = false }: Direction = {},
): TestProgram => {
  const [from, to] = swapped ? [south, north] : [north, south];
  const program = startProgram(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
    env: { PATH: readEnv().PATH, FROM_MYSQL_URL: from.url, TO_MYSQL_URL: to.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  cleanUp(async () => void (await program.end('SIGKILL')));
  return program;
};

const run = async (cells: TwoCells, args: readonly string[], direction: Direction = {}) => {
  const { child } = start(cells, args, direction);
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout!), text(child.stderr!), exited]);
  return { code, output: stdout + stderr };
};

const company = ['--company', String(moving)];
const copy = ['copy', ...company, '--cell', '1'];

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
const placeOf = async ({ north, south }: TwoCells) => {
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

/** Resolves when a connection to this database waits for a lock. */
const waitsForLock = ({ name, query }: TestDatabase) =>
  vi.waitFor(
    async () => {
      const waiting = await query(
        `SELECT 1 FROM information_schema.processlist AS p
         LEFT JOIN information_schema.innodb_trx AS t ON t.trx_mysql_thread_id = p.id
         WHERE p.db = ? AND (p.state = 'Waiting for table metadata lock' OR t.trx_state = 'LOCK WAIT')`,
        [name],
      );
      expect(waiting.length).toBeGreaterThan(0);
    },
    { timeout: 60_000, interval: 20 },
  );

test('a move that is killed anywhere is repeated, and every row arrives once, unchanged', async () => {
  const cells = await twoCells();
  const { north, south } = cells;
  const before = await rowsOfCompany(north);
  const neighbour = await rowsOfCompany(north, staying);
  const killedWhile = async (where: TestDatabase, ...statements: readonly string[]) => {
    const release = await hold(where, ...statements);
    const mover = start(cells, copy);
    await waitsForLock(where);
    await mover.end('SIGKILL');
    await release();
  };

  // While the company is open.
  await killedWhile(south, 'LOCK TABLES events READ');
  expect(await placeOf(cells)).toEqual(['open', 'absent']);
  expect(await rowsOfCompany(north)).toEqual(before);
  expect((await run(cells, copy)).output).toMatch(/still open/);

  await close(north);
  // While it parks the second queue, copies deliveries, and hands over.
  await killedWhile(
    north,
    'START TRANSACTION',
    `SELECT 1 FROM delivery_queues WHERE company_id = ${moving} AND subscription_id = ${moving * 10 + 2} FOR UPDATE`,
  );
  await killedWhile(south, 'LOCK TABLES deliveries READ');
  await killedWhile(south, 'LOCK TABLES companies READ');
  expect(await placeOf(cells)).toEqual(['closed', 'absent']);

  expect(await run(cells, copy)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/was handed over; open it/),
  });
  expect(await placeOf(cells)).toEqual(['closed', 'closed']);
  expect(await rowsOfCompany(south)).toEqual(before);
  // Killed before it could say so, it is repeated without a change.
  await open(south);
  await south.query('DELETE FROM replays WHERE company_id = ?', [moving]);
  expect(await run(cells, copy)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/handed over already/),
  });
  expect((await rowsOfCompany(south)).replays).toBeUndefined();
  expect(await rowsOfCompany(north, staying)).toEqual(neighbour);
  expect(await rowsOfCompany(south, staying)).toEqual({});
});

test('a cancelled move leaves the company as it was, and what was copied can be deleted', async () => {
  const cells = await twoCells();
  const { north, south } = cells;
  const before = await rowsOfCompany(north);
  await close(north);
  const release = await hold(south, 'LOCK TABLES companies READ');
  const mover = start(cells, copy);
  await waitsForLock(south);

  // Not while the mover works, and not once it has handed over.
  process.kill(mover.child.pid!, 'SIGSTOP');
  const busy = expect.stringMatching(/another program is moving company 1001/);
  expect(await run(cells, ['cancel', ...company])).toEqual({ code: 1, output: busy });
  await mover.end('SIGKILL');
  await release();
  expect(await rowsOfCompany(south)).not.toEqual({});

  expect(await run(cells, ['cancel', ...company])).toMatchObject({ code: 0 });
  expect(await rowsOfCompany(north)).toEqual(before);
  expect(await placeOf(cells)).toEqual(['closed', 'absent']);
  const drop = ['drop', ...company];
  // The rows of the company itself are safe from both directions.
  expect((await run(cells, drop)).output).toMatch(/is not open in the other cell/);
  await open(north);
  expect((await run(cells, drop)).output).toMatch(/is not closed in the cell that it has left/);
  expect(await run(cells, drop, { swapped: true })).toMatchObject({ code: 0 });
  expect(await rowsOfCompany(south)).toEqual({});
  expect(await rowsOfCompany(north)).toEqual(before);

  // A later move succeeds, and cannot be cancelled once it is over.
  await close(north);
  expect(await run(cells, copy)).toMatchObject({ code: 0 });
  expect(await rowsOfCompany(south)).toEqual(before);
  expect((await run(cells, ['cancel', ...company])).output).toMatch(/was handed over; move it back instead/);
  expect(await placeOf(cells)).toEqual(['closed', 'closed']);
});

test('a company moves back, with what has changed meanwhile and without what it left behind', async () => {
  const cells = await twoCells();
  const { north, south } = cells;
  await close(north);
  expect(await run(cells, copy)).toMatchObject({ code: 0 });
  await open(south);
  // Its key is revoked, events and deliveries come and go.
  await south.query(`UPDATE api_keys SET is_active = 0, revoked_utc = '2026-04-01', version = version + 1;
    INSERT INTO events (company_id, sequence, created_utc, type, payload)
      VALUES (${moving}, 701, '2026-04-01', 'client.created', '{}');
    UPDATE event_sequences SET last_sequence = 701;
    UPDATE deliveries SET state = 'succeeded', due_utc = NULL WHERE event_id < 100;
    DELETE FROM deliveries WHERE event_id > 650;
    DELETE FROM replays`);
  const changed = await rowsOfCompany(south);
  const [late] = await south.query<{ id: number }>('SELECT MAX(event_id) AS id FROM events');
  expect(late!.id).toBeGreaterThan(10 ** 12);

  const back = ['copy', ...company, '--cell', '0'];
  const swapped = { swapped: true };
  expect((await run(cells, back, swapped)).output).toMatch(/still open/);
  await close(south);
  expect(await run(cells, back, swapped)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/was handed over; open it/),
  });
  await open(north);
  expect(await placeOf(cells)).toEqual(['open', 'closed']);
  expect(await rowsOfCompany(north)).toEqual(changed);
  // The first cell goes on with ids that the second one never assigns.
  await furnish(north, 1003);
  const [next] = await north.query<{ id: number }>(
    'SELECT MIN(event_id) AS id FROM events WHERE company_id = 1003',
  );
  expect(Math.floor(next!.id / 10 ** 12) % 32).toBe(0);
  expect(next!.id).toBeGreaterThan(late!.id);

  expect(await run(cells, ['drop', ...company], swapped)).toMatchObject({ code: 0 });
  expect(await rowsOfCompany(south)).toEqual({});
  expect(await rowsOfCompany(north)).toEqual(changed);
});
