import { setTimeout as sleep } from 'node:timers/promises';
import { acrossTenants, connectDatabase, type Database, transaction } from '@causeway/runtime';
import { sql } from 'kysely';
import { startMysql } from '../../../deploy/local/servers.ts';
import { createRandom } from '../../../services/crm/demo/random.ts';
import { startIndexer } from '../../../services/crm/search/indexer.ts';
import { searchClients } from '../../../services/crm/search/search-clients.ts';
import { type Tables, tenantTables } from '../../../services/crm/tables.ts';
import { markForSearch } from '../../../services/crm/testing/mark-for-search.ts';
import { type BenchContext, makeHome } from '../driver.ts';
import { describeMachine, median, percentile, publish, ratio, type Table, whole } from '../report.ts';
import { createQueries } from './queries.ts';
import { clientRow, createVariedPerson, type SearchData, searchData, seedSearch } from './seed.ts';

/** Holds the whole data set, so that the bench measures the search and not the disk. */
const bufferPoolMiB = 3072;

/** Measures the client search, on a MySQL server of its own. */
export const runSearch = async ({ toolchain, onEnd, say, options }: BenchContext): Promise<void> => {
  const home = options.data ?? makeHome(onEnd);
  const mysql = await startMysql({ home, program: toolchain.mysqld, bufferPoolMiB });
  onEnd(() => mysql.stop());
  say('filling the database with two million clients, unless it has them; this takes minutes …');
  await seedSearch(mysql.url);
  const db = connectDatabase<Tables>({ url: mysql.url, poolSize: 16, tenantTables });
  onEnd(() => db.close());
  await settle(db);
  const { bigCompanyId, bigClients, smallClients } = searchData;
  publish('search', options, howMeasured(options), [
    await describeMachine({ MySQL: toolchain.mysqld }),
    await measureCompany(db, bigCompanyId, bigClients, options.rounds),
    await measureCompany(db, bigCompanyId + 1, smallClients, options.rounds),
    await measureInserts(db, searchData),
  ]);
};

const howMeasured = ({ rounds }: BenchContext['options']): string => `
The search as crm runs it, without NATS and HTTP, in one company of ${whole(searchData.bigClients)} clients among ${searchData.smallCompanies} of ${whole(searchData.smallClients)}, on a MySQL server with
a buffer pool of ${bufferPoolMiB / 1024} GiB; each kind of query ${rounds} times. \`nothing\` are texts that nobody has, \`spliced\` texts of common parts that many
places match nearly. In the last column each query counts once, with its median. The aim is a p99 of at most 15 ms. The inserts
are those of ${writers} writers while the indexer works.
`;

/**
 * Waits until the server has written and purged what the inserts left behind, so that it does nothing but search, and reads
 * the tables into memory.
 */
const settle = async (db: Database<Tables>): Promise<void> => {
  const all = acrossTenants(db, 'the bench reads whole tables into memory');
  for (const sum of [
    sql`SELECT SUM(LENGTH(occurrences)) FROM client_search_postings`,
    sql`SELECT SUM(client_id) FROM client_search_entries`,
    sql`SELECT SUM(LENGTH(email)) FROM clients IGNORE INDEX (external_id, phone_reversed)`,
    sql`SELECT COUNT(external_id) FROM clients FORCE INDEX (external_id)`,
  ])
    await sum.execute(all);
  await sql`SET GLOBAL innodb_max_dirty_pages_pct = 0`.execute(db);
  for (let left = Infinity; left > maxUnsettled; await sleep(500)) {
    const { rows } = await sql<{ left: number }>`
      SELECT SUM(COUNT) AS \`left\` FROM information_schema.INNODB_METRICS
      WHERE NAME IN ('trx_rseg_history_len', 'buffer_pool_pages_dirty')`.execute(db);
    left = Number(rows[0]?.left);
  }
  await sql`SET GLOBAL innodb_max_dirty_pages_pct = DEFAULT`.execute(db);
};
/** Pages and transactions. */
const maxUnsettled = 500;

const measureCompany = async (
  db: Database<Tables>,
  companyId: number,
  clients: number,
  rounds: number,
): Promise<Table> => {
  const classes = await createQueries(db, companyId, createRandom(companyId));
  const search = createSearch(db, companyId);
  for (const queries of Object.values(classes)) for (const query of queries.slice(0, 5)) await search(query);
  const measured: Measured[] = [];
  for (const [kind, queries] of Object.entries(classes)) {
    const times = queries.map(() => [] as number[]);
    let hits = 0;
    for (let round = 0; round < rounds; round++)
      for (const [at, query] of queries.entries()) {
        const startedMs = performance.now();
        const { count } = await search(query);
        times[at]!.push(performance.now() - startedMs);
        hits += count;
      }
    measured.push({ kind, times, hits: hits / rounds / queries.length });
  }
  const all = measured.flatMap(({ times }) => times);
  const hits = measured.reduce((sum, one) => sum + one.hits * one.times.length, 0) / all.length;
  return {
    title: `A company of ${whole(clients)} clients, ms`,
    isDetail: clients === searchData.smallClients,
    columns: ['queries', 'number', 'hits', 'p50', 'p99', 'most', 'p99 of the queries’ medians'],
    rows: [...measured, { kind: 'all', times: all, hits }].map(({ kind, times, hits }) => [
      kind,
      whole(times.length),
      hits.toFixed(1),
      ...[0.5, 0.99, 1].map((share) => percentile(times.flat(), share).toFixed(2)),
      percentile(times.map(median), 0.99).toFixed(2),
    ]),
  };
};

interface Measured {
  readonly kind: string;
  /** Of each query, one for each round. */
  readonly times: readonly (readonly number[])[];
  readonly hits: number;
}

/** Calls the handler as its lane does. */
const createSearch = (db: Database<Tables>, companyId: number) => {
  const [search] = searchClients({ db });
  return async (query: string): Promise<{ readonly count: number }> => {
    const [answer] = search!.answer([
      {
        operation: 'searchClients',
        tenant: companyId,
        caller: 1,
        requestId: 'bench',
        traceparent: '',
        budgetMs: 5000,
        deadlineMs: performance.now() + 5000,
        params: [],
        query: `q=${encodeURIComponent(query)}`,
        body: new Uint8Array(),
      },
    ]);
    const { body } = (await answer)!;
    return JSON.parse(String(body));
  };
};

const writers = 16;
const roundMs = 5_000;
const insertRounds = 2;

/** Measures inserts per second, one client per transaction, with and without the search index in alternate turns. */
const measureInserts = async (db: Database<Tables>, data: SearchData): Promise<Table> => {
  const companies = {
    'into the large company': () => data.bigCompanyId,
    'into all companies': (number: number) => data.bigCompanyId + (number % (data.smallCompanies + 1)),
  };
  const rows: string[][] = [];
  for (const [name, companyOf] of Object.entries(companies)) {
    const rates = { without: 0, with: 0 };
    for (let round = 0; round < insertRounds; round++) {
      rates.without += await insertRate(db, companyOf, false);
      const indexer = startIndexer({ db });
      rates.with += await insertRate(db, companyOf, true);
      await indexer.stop();
    }
    rows.push([
      name,
      ...[rates.without, rates.with].map((rate) => whole(rate / insertRounds)),
      ratio(rates.without / rates.with),
    ]);
  }
  return {
    title: 'Inserts a second, one client a transaction',
    columns: ['', 'without the index', 'with it', 'times slower'],
    rows,
  };
};

let number = 10_000_000;

const insertRate = async (
  db: Database<Tables>,
  companyOf: (number: number) => number,
  indexed: boolean,
): Promise<number> => {
  const endMs = performance.now() + roundMs;
  let inserted = 0;
  const write = async (seed: number): Promise<void> => {
    const random = createRandom(seed);
    while (performance.now() < endMs) {
      number++;
      const row = {
        ...clientRow(companyOf(number), createVariedPerson(random, number), number),
        external_id: null,
      };
      await transaction(db, async (trx) => {
        const { insertId } = await trx.insertInto('clients').values(row).executeTakeFirstOrThrow();
        if (indexed) await markForSearch(trx, row.company_id, Number(insertId));
      });
      inserted++;
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, at) => write(number + at)));
  return (inserted / roundMs) * 1000;
};
