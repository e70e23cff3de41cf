import { connectDatabase, type Trx, transaction } from '@causeway/runtime';
import type { Insertable, Kysely, Selectable } from 'kysely';
import { fold } from '../search/fold.ts';
import { indexCompany } from '../search/index-company.ts';
import { affiliateRoleId, globalCompanyId, type Tables, tenantTables } from '../tables.ts';
import { createRandom, type Random } from './random.ts';

/** Every run creates the same people and skips companies that have employees. */
export const seedDemo = async ({
  mysqlUrl,
  isVtgate = false,
  companyIds,
  now = new Date(),
}: DemoOptions): Promise<void> => {
  const shards = isVtgate ? 'vtgate' : undefined;
  const db = connectDatabase<Tables>({ url: mysqlUrl, poolSize: 2, tenantTables, shards });
  try {
    for (const companyId of companyIds) {
      if (!(await hasEmployees(db, companyId))) {
        // Not in the transaction: on a sharded database, the statuses are in no shard (deploy/data/README.md).
        const statuses = await makeStatuses(db, companyId);
        await transaction(db, (trx) => seedCompany(trx, companyId, statuses, now));
      }
      while ((await indexCompany(db, companyId)) > 0);
    }
  } finally {
    await db.close();
  }
};

interface DemoOptions {
  readonly mysqlUrl: string;
  readonly isVtgate?: boolean;
  readonly companyIds: readonly number[];
  readonly now?: Date;
}

const clientsPerCompany = 1200;
const rowsPerInsert = 400;
const historyMs = 540 * 24 * 3600 * 1000;

const hasEmployees = async (db: Kysely<Tables>, companyId: number): Promise<boolean> =>
  (await db
    .selectFrom('employees')
    .select('employee_id')
    .where('company_id', '=', companyId)
    .limit(1)
    .executeTakeFirst()) !== undefined;

const makeStatuses = async (db: Kysely<Tables>, companyId: number): Promise<readonly ListedStatus[]> => {
  await db
    .insertInto('statuses')
    .values(ownStatuses(companyId))
    .onDuplicateKeyUpdate((eb) => ({ color_code: eb.ref('statuses.color_code') }))
    .execute();
  return db
    .selectFrom('statuses')
    .select(['status_id', 'is_lead'])
    .where('company_id', 'in', [globalCompanyId, companyId])
    .where('is_listed', '=', 1)
    .orderBy('status_id')
    .execute();
};

type ListedStatus = Pick<Selectable<Tables['statuses']>, 'status_id' | 'is_lead'>;

const seedCompany = async (
  trx: Trx<Tables>,
  companyId: number,
  statuses: readonly ListedStatus[],
  now: Date,
): Promise<void> => {
  const random = createRandom(companyId);
  await trx.insertInto('employees').values(staff(random, companyId)).execute();

  const people = await trx
    .selectFrom('employees')
    .select(['employee_id', 'listed_as'])
    .where('company_id', '=', companyId)
    .where('listed_as', 'is not', null)
    .orderBy('employee_id')
    .execute();
  const { employee = [], affiliate = [] } = Object.groupBy(people, ({ listed_as }) => listed_as!);
  const { leads = [], others = [] } = Object.groupBy(statuses, ({ is_lead }) =>
    is_lead ? 'leads' : 'others',
  );
  const clients = Array.from({ length: clientsPerCompany }, (_, at): Insertable<Tables['clients']> => {
    const madeMs = now.getTime() - historyMs * (1 - at / clientsPerCompany);
    const created_utc = new Date(Math.floor(madeMs));
    return {
      ...inventPerson(random, at + 1),
      company_id: companyId,
      status_id: random.pickSkewed(random.next() < 0.55 ? leads : others).status_id,
      employee_id: random.next() < 0.8 ? random.pick(employee).employee_id : null,
      affiliate_id: random.next() < 0.2 ? random.pick(affiliate).employee_id : null,
      external_id: random.next() < 0.5 ? `EXT-${100_000 + at}` : null,
      created_utc,
      updated_utc: created_utc,
    };
  });
  for (let at = 0; at < clients.length; at += rowsPerInsert) {
    await trx
      .insertInto('clients')
      .values(clients.slice(at, at + rowsPerInsert))
      .execute();
  }
  await trx
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

/** Includes people that no lookup returns: former employees, and affiliates that are not approved yet. */
const staff = (random: Random, companyId: number): Insertable<Tables['employees']>[] => [
  ...Array.from({ length: 14 }, (_, at) => employee(random, companyId, at, { is_active: at < 12 ? 1 : 0 })),
  ...Array.from({ length: 9 }, (_, at) => ({
    ...employee(random, companyId, 100 + at, { is_active: at === 8 ? 0 : 1 }),
    role_id: affiliateRoleId,
    is_approved: at < 6 ? 1 : 0,
    affiliate_code: `PARTNER${companyId}${String(at + 1).padStart(2, '0')}`,
    commission_rate: String(random.integer(5, 20)),
    affiliate_company_name: `${random.pick(['Bright', 'Summit', 'Harbor', 'Cedar'])} Referrals ${at + 1}`,
  })),
];

const employee = (
  random: Random,
  companyId: number,
  number: number,
  { is_active }: { is_active: number },
) => {
  const { first_name, last_name, email, phone } = inventPerson(random, number);
  return {
    company_id: companyId,
    role_id: random.integer(1, 5),
    first_name,
    last_name,
    email,
    phone,
    is_active,
  };
};

const ownStatuses = (companyId: number): Insertable<Tables['statuses']>[] => [
  { company_id: companyId, status_name: 'Client - VIP', color_code: '#b8860b' },
  { company_id: companyId, status_name: 'Client - Onboarding', color_code: '#2d9cdb' },
  { company_id: companyId, status_name: 'Client - Archived', color_code: '#bdbdbd', is_active: 0 },
];

interface DemoPerson {
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string;
  readonly phone: string;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
}

/** A plausible person. `number` makes the email unique; domains and phone numbers are ones reserved for examples. */
export const inventPerson = (random: Random, number: number): DemoPerson => {
  const first_name = random.pickSkewed(firstNames);
  const last_name = random.pickSkewed(lastNames);
  const [city, state, zip] = random.pickSkewed(places);
  return { first_name, last_name, ...contactOf(random, first_name, last_name, number), city, state, zip };
};

export const contactOf = (random: Random, firstName: string, lastName: string, number: number) => {
  const [first, last] = [plain(firstName), plain(lastName)];
  const local = random.pick([
    `${first}.${last}`,
    `${first[0]}${last}`,
    `${first}_${last}`,
    `${last}.${first}`,
  ]);
  return {
    email: `${local}${number}@${random.pickSkewed(domains)}`,
    phone: `+1 (${random.integer(201, 989)}) 555-01${String(random.integer(0, 99)).padStart(2, '0')}`,
  };
};

const plain = (name: string): string => fold(name).replace(/[^a-z]/g, '');

const domains = ['example.com', 'mail.example', 'example.org', 'post.example', 'example.net', 'work.example'];

export const firstNames = [
  ...['Mary', 'James', 'Linda', 'Robert', 'Patricia', 'John', 'Jennifer', 'Michael', 'Elizabeth', 'David'],
  ...['Susan', 'William', 'Jessica', 'Richard', 'Sarah', 'Joseph', 'Karen', 'Thomas', 'Nancy', 'Christopher'],
  ...['Ana', 'Daniel', 'Sofía', 'Mateo', 'Valentina', 'José', 'Camila', 'Diego', 'Lucía', 'Andrés'],
  ...['Wei', 'Mei', 'Hiroshi', 'Yuki', 'Priya', 'Arjun', 'Fatima', 'Omar', 'Amina', 'Kwame'],
  ...['Zoë', 'Renée', 'Jürgen', 'Björn', 'Søren', 'Łukasz', 'Siân', 'Chloé', 'Noël', 'Ingrid'],
];

export const lastNames = [
  ...['Smith', 'Johnson', 'Williams', 'Brown', 'Jones', 'Garcia', 'Miller', 'Davis', 'Rodriguez', 'Martinez'],
  ...[
    'Hernandez',
    'Lopez',
    'Gonzalez',
    'Wilson',
    'Anderson',
    'Thomas',
    'Taylor',
    'Moore',
    'Jackson',
    'Martin',
  ],
  ...['Lee', 'Perez', 'Thompson', 'White', 'Harris', 'Sanchez', 'Clark', 'Ramirez', 'Lewis', 'Robinson'],
  ...['Walker', 'Young', 'Allen', 'King', 'Wright', 'Scott', 'Torres', 'Nguyen', 'Hill', 'Flores'],
  ...['Green', 'Adams', 'Nelson', 'Baker', 'Hall', 'Rivera', 'Campbell', 'Mitchell', 'Carter', 'Roberts'],
  ...['Núñez', 'Müller', 'Østergård', 'Kowalczyk', 'Nakamura', 'Okafor', "O'Brien", 'Van den Berg', 'Çelik'],
  ...['Smith-Jones', 'Dubois', 'Rossi', 'Ivanova', 'Haddad', 'Mensah', 'Patel', 'Chaudhary', 'Kim', 'Zhang'],
];

const places: readonly (readonly [string, string, string])[] = [
  ['Austin', 'TX', '78701'],
  ['Columbus', 'OH', '43215'],
  ['Denver', 'CO', '80202'],
  ['Portland', 'OR', '97205'],
  ['Tampa', 'FL', '33602'],
  ['Phoenix', 'AZ', '85004'],
  ['Raleigh', 'NC', '27601'],
  ['Madison', 'WI', '53703'],
  ['Sacramento', 'CA', '95814'],
  ['Albany', 'NY', '12207'],
];
