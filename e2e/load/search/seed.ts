import { connectDatabase, migrate } from '@causeway/runtime';
import { createRandom, type Random } from '../../../services/crm/demo/random.ts';
import { contactOf, firstNames, lastNames } from '../../../services/crm/demo/seed-demo.ts';
import { indexCompany } from '../../../services/crm/search/index-company.ts';
import { type Tables, tenantTables } from '../../../services/crm/tables.ts';

export interface SearchData {
  /** The company with a million clients. */
  readonly bigCompanyId: number;
  readonly bigClients: number;
  readonly smallCompanies: number;
  readonly smallClients: number;
}

export const searchData: SearchData = {
  bigCompanyId: 1,
  bigClients: 1_000_000,
  smallCompanies: 200,
  smallClients: 5_000,
};

const rowsPerInsert = 1000;
const leadNewStatusId = 1;

/**
 * Fills the database with the clients of the companies, with mixed IDs as in production, and indexes them. Leaves a
 * database unchanged that has them already.
 */
export const seedSearch = async (mysqlUrl: string, data: SearchData = searchData): Promise<void> => {
  const migrations = new URL('../../../services/crm/migrations', import.meta.url).pathname;
  await migrate(mysqlUrl, [{ name: 'crm', folder: migrations }]);
  const db = connectDatabase<Tables>({ url: mysqlUrl, poolSize: 2, tenantTables });
  try {
    const last = data.bigCompanyId + data.smallCompanies;
    const done = await db
      .selectFrom('client_search_entries')
      .select('entry')
      .where('company_id', '=', last)
      .limit(1)
      .executeTakeFirst();
    if (done) return;
    await insertClients(data, async (rows) => {
      await db.insertInto('clients').values(rows).execute();
    });
    const startedMs = performance.now();
    let indexed = 0;
    for (let companyId = data.bigCompanyId; companyId <= last; companyId++) {
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
      for (let taken = 1; taken > 0; indexed += taken) taken = await indexCompany(db, companyId);
    }
    const rate = (indexed / (performance.now() - startedMs)) * 1000;
    process.stdout.write(`indexed ${indexed} clients, ${Math.round(rate)} a second\n`);
  } finally {
    await db.close();
  }
};

type Insert = (rows: ReturnType<typeof clientRow>[]) => Promise<void>;

const insertClients = async (data: SearchData, insert: Insert): Promise<void> => {
  const random = createRandom(1);
  const total = data.bigClients + data.smallCompanies * data.smallClients;
  const bigShare = data.bigClients / total;
  let bigLeft = data.bigClients;
  let small = 0;
  let inserting: Promise<void> = Promise.resolve();
  let rows: ReturnType<typeof clientRow>[] = [];
  for (let number = 1; number <= total; number++) {
    const smallLeft = total - number + 1 - bigLeft;
    const big = bigLeft > 0 && (smallLeft === 0 || random.next() < bigShare);
    if (big) bigLeft--;
    const companyId = big ? data.bigCompanyId : data.bigCompanyId + 1 + (small++ % data.smallCompanies);
    rows.push(clientRow(companyId, createVariedPerson(random, number), number));
    if (rows.length === rowsPerInsert || number === total) {
      await inserting;
      inserting = insert(rows);
      rows = [];
      if (number % 200_000 === 0) process.stdout.write(`inserted ${number} of ${total}\n`);
    }
  }
  await inserting;
};

export const clientRow = (
  companyId: number,
  person: ReturnType<typeof createVariedPerson>,
  number: number,
) => ({
  ...person,
  company_id: companyId,
  status_id: leadNewStatusId,
  external_id: number % 2 === 0 ? `EXT-${number}` : null,
});

/**
 * People of a large company: a few very common names and a long tail of rare ones, so that the data has common, rare
 * and unique substrings of every length.
 */
export const createVariedPerson = (random: Random, number: number) => {
  const first_name = random.next() < 0.7 ? random.pickSkewed(firstNames) : invented(random, 2);
  const last_name = random.next() < 0.5 ? random.pickSkewed(lastNames) : invented(random, 3);
  return { first_name, last_name, ...contactOf(random, first_name, last_name, number) };
};

const invented = (random: Random, maxSyllables: number): string => {
  let name = '';
  for (let left = random.integer(1, maxSyllables); left >= 0; left--) {
    name += random.pickSkewed(onsets) + random.pickSkewed(vowels) + random.pickSkewed(codas);
  }
  return name.charAt(0).toUpperCase() + name.slice(1);
};

const onsets = [...'nrstlmdkbghpvjfcwzyq', 'st', 'ch', 'br', 'kr', 'sh', 'th', 'tr', 'gl', 'pr', 'sv'];
const vowels = [...'aeiou', 'ai', 'ie', 'ou', 'ö', 'é', 'y'];
const codas = ['', '', '', ...'nrslmtkd', 'nd', 'st', 'ng', 'rk', 'x', 'w'];
