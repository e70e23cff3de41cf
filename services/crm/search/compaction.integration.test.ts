import { transaction } from '@causeway/runtime';
import { testDatabase } from '@causeway/runtime/testing';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { createRandom } from '../demo/random.ts';
import { type Tables, tenantTables } from '../tables.ts';
import { crmMigrations } from '../testing/boot.ts';
import { statusIds } from '../testing/make.ts';
import { createCompaction } from './compaction.ts';
import { indexCompany } from './index-company.ts';
import { entriesPerChunk } from './postings.ts';
import { findByText } from './search-clients.ts';

const database = await testDatabase({ folders: crmMigrations });
const db = database.connect<Tables>({ tenantTables, poolSize: 10 });

const people = 5_000;

const makePeople = async (companyId: number): Promise<void> => {
  const rows = Array.from({ length: people }, (_, at) => ({
    ...{ company_id: companyId, status_id: statusIds.leadNew },
    ...{ first_name: 'Ann', last_name: 'New', email: `ann${at}@example.com` },
  }));
  for (let at = 0; at < people; at += 1_000)
    await db
      .insertInto('clients')
      .values(rows.slice(at, at + 1_000))
      .execute();
  await rename(companyId, 'Named', 0);
};

/** Half of them, at random, or all. */
const rename = (companyId: number, lastName: string, seed: number): Promise<void> =>
  transaction(db, async (trx) => {
    const random = createRandom(seed);
    const all = await trx
      .selectFrom('clients')
      .select('client_id')
      .where('company_id', '=', companyId)
      .execute();
    const ids = all.map(({ client_id }) => client_id).filter(() => seed === 0 || random.integer(0, 1) === 0);
    await trx
      .updateTable('clients')
      .set({ last_name: sql<string>`CONCAT(${lastName}, client_id)` })
      .where('company_id', '=', companyId)
      .where('client_id', 'in', ids)
      .execute();
    await trx
      .insertInto('client_search_pending')
      .values(ids.map((client_id) => ({ company_id: companyId, client_id })))
      .execute();
  });

const index = async (companyId: number): Promise<void> => {
  while ((await indexCompany(db, companyId)) > 0);
};

const findAll = async (companyId: number, query: string): Promise<number> => {
  const limit = 2 * people;
  const search = { companyId, query, limit, deadlineMs: Number.POSITIVE_INFINITY };
  return (await findByText(db, search)).length;
};

const countOf = async (companyId: number, rows: string): Promise<number> => {
  const [found] = await database.query(`SELECT COUNT(${rows} WHERE company_id = ${companyId}`);
  return Number(Object.values(found!)[0]);
};
const entries = (companyId: number) => countOf(companyId, '*) FROM client_search_entries');
const chunks = (companyId: number) => countOf(companyId, 'DISTINCT chunk) FROM client_search_postings');

test('the index grows with people, not with renames, and every search meanwhile finds everyone', async () => {
  const companyId = 1;
  await makePeople(companyId);
  await index(companyId);
  const compactions = [createCompaction(db), createCompaction(db)];
  let isOver = false;
  const searches = new Set<Promise<unknown>>();
  const search = async () => {
    while (!isOver) {
      const found = findAll(companyId, 'ann');
      searches.add(found);
      expect(await found).toBe(people);
      searches.delete(found);
    }
  };
  // A search lasts less than the pause between two rounds.
  const compact = async () => {
    await Promise.all(compactions.map((round) => round()));
    await Promise.all(searches);
  };
  const work = async () => {
    for (let round = 1; round <= 6; round++) {
      await rename(companyId, `Round${round}n`, round);
      await Promise.all([index(companyId), compact()]);
    }
    for (let left = 3; left > 0; left--) await compact();
  };
  await Promise.all([work().finally(() => (isOver = true)), search()]);
  expect(await entries(companyId)).toBeLessThan(2 * people + 3 * entriesPerChunk);
  expect(await chunks(companyId)).toBeLessThanOrEqual(4);
  for (const { client_id, last_name } of await db
    .selectFrom('clients')
    .select(['client_id', 'last_name'])
    .where('company_id', '=', companyId)
    .where((eb) => eb(sql<number>`client_id % 50`, '=', 0))
    .execute())
    expect(await findAll(companyId, last_name.toLowerCase()), `${client_id}`).toBeGreaterThan(0);
});

test.each([
  ['the clients have new entries', 'BEFORE UPDATE ON client_search_tails'],
  ["a chunk's postings are deleted", 'BEFORE DELETE ON client_search_entries'],
])('a process that ends after %s loses nothing, and another goes on', async (_, event) => {
  const companyId = event.includes('UPDATE') ? 2 : 3;
  await makePeople(companyId);
  await index(companyId);
  for (const round of [1, 2, 3]) {
    await rename(companyId, 'Again', round);
    await index(companyId);
  }
  await database.query(
    `CREATE TRIGGER ending ${event} FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'ended'`,
  );
  const before = [await entries(companyId), await chunks(companyId)];
  const ending = createCompaction(db);
  const rounds = async () => {
    await ending();
    await ending();
  };
  try {
    await expect(rounds()).rejects.toThrow(/ended|does not tell/);
  } finally {
    await database.query('DROP TRIGGER ending');
  }
  expect(await findAll(companyId, 'ann')).toBe(people);
  expect(await chunks(companyId)).toBe(before[1]);
  const following = createCompaction(db);
  for (let left = 3; left > 0; left--) await following();
  expect(await findAll(companyId, 'ann')).toBe(people);
  expect(await entries(companyId)).toBeLessThan(before[0]!);
  expect(await chunks(companyId)).toBeLessThan(before[1]!);
});

test('a chunk of people who are all erased is removed', async () => {
  const companyId = 4;
  await makePeople(companyId);
  await index(companyId);
  await rename(companyId, 'Again', 0);
  await index(companyId);
  await db
    .deleteFrom('client_search_entries')
    .where('company_id', '=', companyId)
    .where('entry', '<', entriesPerChunk)
    .execute();
  const compact = createCompaction(db);
  await compact();
  await compact();
  expect(await chunks(companyId)).toBe(1);
});
