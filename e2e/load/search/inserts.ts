import { type Database, transaction } from '@causeway/runtime';
import { createRandom } from '../../../services/crm/demo/random.ts';
import { startIndexer } from '../../../services/crm/search/indexer.ts';
import type { Tables } from '../../../services/crm/tables.ts';
import { markForSearch } from '../../../services/crm/testing/mark-for-search.ts';
import { createVariedPerson } from './names.ts';
import { clientRow, type SearchData } from './seed.ts';

const writers = 16;
const roundMs = 5_000;
const rounds = 2;

/** Measures inserts per second, one client per transaction, with and without the search index in alternate turns. */
export const measureInserts = async (db: Database<Tables>, data: SearchData): Promise<void> => {
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
