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
import { percentile } from '../report.ts';
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
  await benchSearch(mysql.url);
};

/**
 * Measures the client search as the service runs it (parse, queries, answer; without NATS and HTTP), for one large
 * company among many small ones, and the cost of its index for inserts.
 * @param mysqlUrl a database that only the bench uses.
 */
const benchSearch = async (mysqlUrl: string, data: SearchData = searchData): Promise<void> => {
  await seedSearch(mysqlUrl, data);
  const db = connectDatabase<Tables>({ url: mysqlUrl, poolSize: 16, tenantTables });
  try {
    await settle(db);
    for (const companyId of [data.bigCompanyId, data.bigCompanyId + 1]) {
      await measureCompany(
        db,
        companyId,
        companyId === data.bigCompanyId ? data.bigClients : data.smallClients,
      );
    }
    await measureInserts(db, data);
  } finally {
    await db.close();
  }
};

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

const measureCompany = async (db: Database<Tables>, companyId: number, clients: number): Promise<void> => {
  const classes = await createQueries(db, companyId, createRandom(companyId));
  const search = createSearch(db, companyId);
  for (const queries of Object.values(classes)) for (const query of queries.slice(0, 5)) await search(query);
  print(
    `\na company of ${clients} clients`,
    ...['queries', 'hits', 'p50 ms', 'p99 ms', 'max ms', 'best p99'],
  );
  const all: Measured[] = [];
  for (const [name, queries] of Object.entries(classes)) {
    const timed: Measured[] = [];
    for (const query of queries) {
      const first = await search(query);
      const others = [await search(query), await search(query)].map(({ elapsedMs }) => elapsedMs);
      timed.push({ ...first, bestMs: Math.min(first.elapsedMs, ...others) });
    }
    all.push(...timed);
    report(name, timed);
  }
  report('all', all);
  const slowest = all.sort((one, other) => other.elapsedMs - one.elapsedMs).slice(0, 3);
  for (const { query, count, elapsedMs } of slowest)
    print(`  slowest: ${JSON.stringify(query)}`, '', `${count}`, '', '', elapsedMs.toFixed(2));
};

interface Timed {
  readonly query: string;
  readonly count: number;
  readonly elapsedMs: number;
}

interface Measured extends Timed {
  /** Of three times: what the search itself takes, without what else the machine did meanwhile. */
  readonly bestMs: number;
}

/** Calls the handler as its lane does. */
const createSearch = (db: Database<Tables>, companyId: number) => {
  const [search] = searchClients({ db });
  return async (query: string): Promise<Timed> => {
    const startedMs = performance.now();
    const [answer] = search!.answer([
      {
        operation: 'searchClients',
        tenant: companyId,
        caller: 1,
        requestId: 'bench',
        traceparent: '',
        budgetMs: 5000,
        deadlineMs: startedMs + 5000,
        params: [],
        query: `q=${encodeURIComponent(query)}`,
        body: new Uint8Array(),
      },
    ]);
    const { body } = (await answer)!;
    const elapsedMs = performance.now() - startedMs;
    return { query, count: (JSON.parse(String(body)) as { count: number }).count, elapsedMs };
  };
};

const report = (name: string, timed: readonly Measured[]): void => {
  const p = (of: (one: Measured) => number, share: number) => percentile(timed.map(of), share).toFixed(2);
  const first = ({ elapsedMs }: Measured): number => elapsedMs;
  const hits = timed.reduce((sum, { count }) => sum + count, 0) / timed.length;
  const times = [p(first, 0.5), p(first, 0.99), p(first, 1), p(({ bestMs }) => bestMs, 0.99)];
  print(name, `${timed.length}`, hits.toFixed(1), ...times);
};

const print = (name: string, ...columns: readonly string[]): void => {
  process.stdout.write(`${name.padEnd(36)}${columns.map((column) => column.padStart(10)).join('')}\n`);
};

const writers = 16;
const roundMs = 5_000;
const rounds = 2;

/** Measures inserts per second, one client per transaction, with and without the search index in alternate turns. */
const measureInserts = async (db: Database<Tables>, data: SearchData): Promise<void> => {
  const companies = {
    'into the large company': () => data.bigCompanyId,
    'into all companies': (number: number) => data.bigCompanyId + (number % (data.smallCompanies + 1)),
  };
  for (const [name, companyOf] of Object.entries(companies)) {
    const rates = { without: 0, with: 0 };
    for (let round = 0; round < rounds; round++) {
      rates.without += await insertRate(db, companyOf, false);
      const indexer = startIndexer({ db });
      rates.with += await insertRate(db, companyOf, true);
      await indexer.stop();
    }
    const waiting = await db
      .selectFrom('client_search_pending')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('company_id', '=', data.bigCompanyId)
      .executeTakeFirstOrThrow();
    const perSecond = (count: number): string => `${Math.round(count / rounds)}/s`;
    process.stdout.write(
      `\ninserts ${name}: ${perSecond(rates.without)} without the index, ${perSecond(rates.with)} with it ` +
        `(${(rates.without / rates.with).toFixed(2)} times slower), ${waiting.count} left waiting\n`,
    );
  }
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
