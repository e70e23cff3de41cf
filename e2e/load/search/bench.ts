import { connectDatabase, type Database } from '@causeway/runtime';
import { createRandom } from '../../../services/crm/demo/random.ts';
import { searchClients } from '../../../services/crm/lookups/index.ts';
import { type Tables, tenantTables } from '../../../services/crm/tables.ts';
import { measureInserts } from './inserts.ts';
import { createQueries } from './queries.ts';
import { type SearchData, searchData, seedSearch } from './seed.ts';

/**
 * Measures the client search as the service runs it (parse, queries, answer; without NATS and HTTP), for one large
 * company among many small ones, and the cost of its index for inserts.
 * @param mysqlUrl a database that only the bench uses.
 */
export const benchSearch = async (mysqlUrl: string, data: SearchData = searchData): Promise<void> => {
  await seedSearch(mysqlUrl, data);
  const db = connectDatabase<Tables>({ url: mysqlUrl, poolSize: 16, tenantTables });
  try {
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

const measureCompany = async (db: Database<Tables>, companyId: number, clients: number): Promise<void> => {
  const classes = await createQueries(db, companyId, createRandom(companyId));
  const search = createSearch(db, companyId);
  for (const queries of Object.values(classes)) for (const query of queries.slice(0, 5)) await search(query);
  print(`\na company of ${clients} clients`, 'queries', 'hits', 'p50 ms', 'p99 ms', 'max ms');
  const all: Timed[] = [];
  for (const [name, queries] of Object.entries(classes)) {
    const timed: Timed[] = [];
    for (const query of queries) timed.push(await search(query));
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

/** Calls the handler as its lane does. */
const createSearch = (db: Database<Tables>, companyId: number) => {
  const search = searchClients({ db });
  return async (query: string): Promise<Timed> => {
    const startedMs = performance.now();
    const [answer] = search.answer([
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

const report = (name: string, timed: readonly Timed[]): void => {
  const sorted = timed.map(({ elapsedMs }) => elapsedMs).sort((one, other) => one - other);
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2);
  const hits = timed.reduce((sum, { count }) => sum + count, 0) / timed.length;
  print(name, `${timed.length}`, hits.toFixed(1), at(0.5), at(0.99), at(1));
};

const print = (name: string, ...columns: readonly string[]): void => {
  process.stdout.write(`${name.padEnd(36)}${columns.map((column) => column.padStart(10)).join('')}\n`);
};
