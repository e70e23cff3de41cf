import { setTimeout as sleep } from 'node:timers/promises';
import { transaction } from '@causeway/runtime';
import { rowsOf, testDatabase } from '@causeway/runtime/testing';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../demo/random.ts';
import { inventPerson } from '../demo/seed-demo.ts';
import { type Tables, tenantTables } from '../tables.ts';
import { crmMigrations } from '../testing/boot.ts';
import { indexAll } from '../testing/index-all.ts';
import { makeClient, statusIds } from '../testing/make.ts';
import { markForSearch } from '../testing/mark-for-search.ts';
import { fold } from './fold.ts';
import { indexCompany, refoldCompany } from './index-company.ts';
import { startIndexer } from './indexer.ts';
import { findByText } from './search-clients.ts';
import { contains, searchText } from './text.ts';

const database = await testDatabase({ folders: crmMigrations });
const db = database.connect<Tables>({ tenantTables, poolSize: 10 });

const find = (companyId: number, query: string, limit = 25) =>
  findByText(db, { companyId, query: fold(query), limit, deadlineMs: Number.POSITIVE_INFINITY });
const idsOf = async (companyId: number, query: string) =>
  (await find(companyId, query)).map(({ client_id }) => client_id);

const makeMany = async (companyId: number, count: number, seed = companyId) => {
  const random = createRandom(seed);
  const rows = Array.from({ length: count }, (_, at) => {
    const { first_name, last_name, email } = inventPerson(random, at);
    return { company_id: companyId, status_id: statusIds.leadNew, first_name, last_name, email };
  });
  for (let at = 0; at < count; at += 1000)
    await db
      .insertInto('clients')
      .values(rows.slice(at, at + 1000))
      .execute();
  await db
    .insertInto('client_search_pending')
    .columns(['company_id', 'client_id'])
    .expression((eb) =>
      eb
        .selectFrom('clients')
        .select([eb.val(companyId).as('company_id'), 'client_id'])
        .where('company_id', '=', companyId),
    )
    .execute();
};

const waiting = async (companyId: number) => (await rowsOf(db, 'client_search_pending', companyId)).length;

describe('a company with full chunks, a tail, waiting and renamed clients', () => {
  const companyId = 1;
  let clients: { client_id: number; first_name: string; last_name: string; email: string }[];

  beforeAll(async () => {
    await makeMany(companyId, 9_000);
    while ((await indexCompany(db, companyId)) > 0);
    const rename = async (every: number, last_name: string) => {
      const some = await db
        .selectFrom('clients')
        .select('client_id')
        .where('company_id', '=', companyId)
        .orderBy('client_id')
        .execute();
      await transaction(db, async (trx) => {
        for (const { client_id } of some.filter((_, at) => at % every === 0)) {
          await trx
            .updateTable('clients')
            .set({ last_name })
            .where('company_id', '=', companyId)
            .where('client_id', '=', client_id)
            .execute();
          await markForSearch(trx, companyId, client_id);
        }
      });
    };
    await rename(90, 'Van Rename');
    while ((await indexCompany(db, companyId)) > 0);
    await rename(190, 'Twice Renamed');
    clients = await rowsOf(db, 'clients', companyId);
  });

  test('gives the results of a full scan, for any query', async () => {
    const random = createRandom(99);
    const texts = clients.map((client) => ({ ...client, ...searchText(client) }));
    const queries = [
      'rename',
      'van rename',
      'twice',
      'ice re',
      'jample',
      'zq',
      'an',
      '.e',
      'ñ',
      'smith-jones',
    ];
    for (let left = 100; left > 0; left--) {
      const { name, email } = random.pick(texts);
      const text = random.pick([name, email]);
      const from = random.integer(0, text.length - 2);
      queries.push(text.slice(from, from + random.integer(2, 14)));
      queries.push(text.slice(from, from + 3) + random.pick(texts).email.slice(1, 4));
    }
    for (const query of queries) {
      const plain = fold(query);
      if (plain === '') continue;
      const expected = new Set(
        texts.filter((text) => contains(text, plain)).map(({ client_id }) => client_id),
      );
      const found = await idsOf(companyId, query);
      expect(new Set(found).size, query).toBe(found.length);
      expect(found.length, query).toBe(Math.min(25, expected.size));
      for (const id of found) expect(expected.has(id), query).toBe(true);
    }
  });

  test('a search stops when its caller has given up', async () => {
    const search = findByText(db, { companyId, query: 'qqq', limit: 25, deadlineMs: performance.now() - 1 });
    await expect(search).resolves.toEqual([]);
    const common = findByText(db, {
      companyId,
      query: 'smith',
      limit: 25,
      deadlineMs: performance.now() - 1,
    });
    await expect(common).rejects.toMatchObject({ code: 'timeout' });
  });
});

test('several indexers at once give each client one entry', async () => {
  const companyIds = [11, 12, 13];
  for (const companyId of companyIds) await makeMany(companyId, 5_000);
  await Promise.all(Array.from({ length: 6 }, () => indexAll(db)));
  for (const companyId of companyIds) {
    const entries = await rowsOf(db, 'client_search_entries', companyId);
    expect(new Set(entries.map(({ client_id }) => client_id)).size).toBe(5_000);
    expect(entries.map(({ entry }) => entry)).toEqual(Array.from({ length: 5_000 }, (_, at) => at));
    expect(await waiting(companyId)).toBe(0);
  }
});

test('clients are found at every moment while indexers move them', async () => {
  const companyId = 21;
  const names: string[] = [];
  let written = false;
  const write = async (writer: number) => {
    for (let at = 0; at < 100; at++) {
      const last_name = `W${writer}n${at}end`;
      await makeClient(db, companyId, { last_name });
      names.push(last_name);
    }
  };
  const index = async () => {
    while (!written) await indexCompany(db, companyId);
  };
  const read = async () => {
    while (!written) {
      const name = names.at(-1);
      if (name === undefined) await sleep(1);
      else expect(await idsOf(companyId, name), name).toHaveLength(1);
    }
  };
  const writing = Promise.all([write(1), write(2), write(3)]).finally(() => {
    written = true;
  });
  await Promise.all([writing, index(), index(), read(), read(), read()]);
});

test('what the release before indexed is found in the present folding, as often as it indexes it', async () => {
  const companyId = 23;
  const ids: number[] = [];
  const indexAsBefore = async (last_name: string) => {
    const client_id = await makeClient(db, companyId, { last_name });
    ids.push(client_id);
    const { entries } = (await db
      .selectFrom('client_search_tails')
      .select('entries')
      .where('company_id', '=', companyId)
      .executeTakeFirst()) ?? { entries: 0 };
    const texts = Buffer.from(`ann ${last_name.toLowerCase()}\nann@example.com\n`);
    await db
      .insertInto('client_search_entries')
      .values({ company_id: companyId, entry: entries, client_id })
      .execute();
    await db
      .insertInto('client_search_tails')
      .values({ company_id: companyId, entries: 1, texts })
      .onDuplicateKeyUpdate({
        entries: sql`entries + 1`,
        texts: sql`CONCAT(texts, ${texts})`,
      })
      .execute();
    await db.deleteFrom('client_search_pending').where('company_id', '=', companyId).execute();
  };
  await indexAsBefore('Għaxaq');
  await indexAsBefore('Smith');
  expect(await idsOf(companyId, 'ghaxaq')).toEqual([]);
  const indexer = startIndexer({ db });
  try {
    await expect.poll(() => idsOf(companyId, 'ghaxaq')).toEqual(ids.slice(0, 1));
    await indexAsBefore('Għarb');
    await expect.poll(() => idsOf(companyId, 'gharb')).toEqual(ids.slice(2));
  } finally {
    await indexer.stop();
  }
  expect(await refoldCompany(db, companyId)).toBe(0);
  expect(await idsOf(companyId, 'ann')).toHaveLength(3);
  const entries = await rowsOf(db, 'client_search_entries', companyId);
  expect(entries.length).toBe(5);
});

test('a client marked again while it is indexed stays marked', async () => {
  const companyId = 41;
  const id = await makeClient(db, companyId, { last_name: 'First' });
  await transaction(db, async (trx) => {
    // The change is not committed yet while the indexer runs.
    await trx
      .updateTable('clients')
      .set({ last_name: 'Second' })
      .where('company_id', '=', companyId)
      .where('client_id', '=', id)
      .execute();
    await markForSearch(trx, companyId, id);
    expect(await indexCompany(db, companyId)).toBe(1);
  });
  expect(await waiting(companyId)).toBe(1);
  expect(await idsOf(companyId, 'second')).toEqual([id]);
  expect(await idsOf(companyId, 'first')).toEqual([]);
});

test('a client deleted before it is indexed is dropped', async () => {
  const companyId = 51;
  const id = await makeClient(db, companyId);
  await db.deleteFrom('clients').where('company_id', '=', companyId).where('client_id', '=', id).execute();
  expect(await indexCompany(db, companyId)).toBe(1);
  expect(await waiting(companyId)).toBe(0);
  expect(await idsOf(companyId, 'ann')).toEqual([]);
});
