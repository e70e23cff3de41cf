import { randomBytes } from 'node:crypto';
import { createKeyValue, hashKeyValue, lastFour } from '@causeway/proto';
import { createConnection } from 'mysql2/promise';

/** The data that both systems are queried for. */
export interface Data {
  /** Ordered so that neighbours belong to different companies. */
  readonly keys: readonly string[];
  /** Keys with a limit of `limitOfLimited` requests per minute. */
  readonly limitedKeys: readonly string[];
  /** Keys whose counts are not checked. */
  readonly spareKeys: readonly string[];
}

export const companies = 300;
const keysPerCompany = 20;
export const employeesPerCompany = 16;
export const limitOfLimited = 40;
const limitedCompanies = 20;
const spareCompanies = 20;
const firstCompanyId = 5001;
const affiliateRole = 6;

/** Fills a migrated database with a few bulk statements, before any service runs on it. */
export const fillDatabase = async (mysqlUrl: string): Promise<Data> => {
  const companyIds = Array.from({ length: companies }, (_, at) => firstCompanyId + at);
  const newKey = (companyId: number) => createKeyValue({ prefix: 'crm', companyId, random: randomBytes });
  const keyRow = (companyId: number, value: string, limitRead: number | null) => [
    companyId,
    'bench',
    Buffer.from(hashKeyValue(value), 'base64url'),
    'crm',
    lastFour(value),
    'integrations:read integrations:write',
    limitRead,
    now,
  ];
  const now = new Date();
  const rounds = Array.from({ length: keysPerCompany }, () =>
    companyIds.map((id) => [id, newKey(id)] as const),
  );
  const open = rounds.flat();
  const limited = companyIds.slice(0, limitedCompanies).map((id) => [id, newKey(id)] as const);

  const spare = companyIds.slice(-spareCompanies).map((id) => [id, newKey(id)] as const);

  const db = await createConnection({ uri: mysqlUrl, timezone: 'Z' });
  await db.query('INSERT INTO companies (company_id, name, created_utc) VALUES ?', [
    companyIds.map((id) => [id, `Company ${id}`, now]),
  ]);
  await db.query(
    'INSERT INTO employees (company_id, role_id, first_name, last_name, email, is_approved) VALUES ?',
    [companyIds.flatMap(staff)],
  );
  await db.query(
    'INSERT INTO api_keys (company_id, name, key_hash, prefix, last4, scopes, limit_read, created_utc) VALUES ?',
    [
      [
        ...[...open, ...spare].map(([id, value]) => keyRow(id, value, null)),
        ...limited.map(([id, value]) => keyRow(id, value, limitOfLimited)),
      ],
    ],
  );
  await db.query('ANALYZE TABLE companies, employees, api_keys, statuses');
  await db.end();
  return {
    keys: open.map(([, value]) => value),
    limitedKeys: limited.map(([, value]) => value),
    spareKeys: spare.map(([, value]) => value),
  };
};

/** The last two are affiliates, which the lookup leaves out. */
const staff = (companyId: number) =>
  Array.from({ length: employeesPerCompany }, (_, at) => {
    const first = firstNames[(companyId + at * 7) % firstNames.length]!;
    const last = lastNames[(companyId * 3 + at * 5) % lastNames.length]!;
    const role = at < employeesPerCompany - 2 ? 1 + (at % 5) : affiliateRole;
    return [
      companyId,
      role,
      first,
      last,
      `${first}.${last}.${at}@company${companyId}.example`.toLowerCase(),
      true,
    ];
  });

const firstNames = [
  'Amara',
  'Benedikt',
  'Chloé',
  'Dmitri',
  'Elif',
  'Farid',
  'Grace',
  'Hiro',
  'Inés',
  'Jonas',
  'Katya',
];
const lastNames = [
  'Okafor',
  'Lindqvist',
  'Marchetti',
  'Novak',
  "O'Brien",
  'Pereira',
  'Quist',
  'Rahman',
  'Søndergaard',
];
