import {
  type CompanyEntry,
  companyAt,
  companyEntryName,
  type KeyEntry,
  keyEntryName,
  type Scope,
  type SignerEntry,
  signerEntryName,
  type TemporaryLimits,
} from '@causeway/proto';
import { acrossTenants, type Database, type Log } from '@causeway/runtime';
import type { AccessTables, RowOf } from '../schema.ts';
import { keepRevokedMs, type VersionedEntry } from './bucket.ts';

export const limitColumns = ['limit_read', 'limit_write', 'limit_admin', 'limit_lookup'] as const;
/** A row's own limits, in requests a minute; null means the configured one. */
export type LimitRow = RowOf<'api_keys', typeof limitColumns>;

export const keyEntryColumns = [
  'company_id',
  'id',
  'key_hash',
  'scopes',
  'is_active',
  'version',
  'expires_utc',
  'networks',
  'previous_hash',
  'previous_until_utc',
  'previous_active',
  ...limitColumns,
] as const;
export const companyLimitColumns = [...limitColumns, 'temporary_limits'] as const;
export const companyEntryColumns = ['company_id', 'version', 'closed_utc', ...companyLimitColumns] as const;

interface Publisher {
  publish(name: string, entry: VersionedEntry): Promise<void>;
}

type KeyEntryRow = RowOf<'api_keys', typeof keyEntryColumns>;
type CompanyEntryRow = RowOf<'companies', typeof companyEntryColumns>;

/** A row version always gives the same text, with the same order of fields. */
const currentEntry = (row: KeyEntryRow): KeyEntry => ({
  version: row.version,
  id: row.id,
  companyId: row.company_id,
  scopes: row.scopes.split(' ') as Scope[],
  active: row.is_active === 1,
  ...(row.expires_utc && { expiresMs: row.expires_utc.getTime() }),
  ...(row.networks && { networks: row.networks.split(' ') }),
  ...limitsOf(row),
});

/** Of its secret, and of the one before the latest rotation. */
const keyEntries = (row: KeyEntryRow): readonly (readonly [name: string, entry: KeyEntry])[] => {
  const { previous_hash, previous_until_utc, version, id, company_id: companyId } = row;
  const name = hashName(row.key_hash);
  const current = [name, currentEntry(row)] as const;
  if (!previous_hash) return [current];
  const isActive = row.is_active === 1 && row.previous_active === 1;
  const replacedBy = { name, untilMs: isActive ? previous_until_utc!.getTime() : 0 };
  return [
    current,
    [hashName(previous_hash), { version, id, companyId, scopes: [], active: false, replacedBy }],
  ];
};

/** Returns when every gateway has it. */
export const publishKey = async (table: Publisher, row: KeyEntryRow): Promise<void> => {
  const [current, previous] = keyEntries(row);
  const isPublished = table.publish(...current!);
  // Before it names the new secret's entry, the old one's admits by itself.
  if (previous?.[1].replacedBy?.untilMs) await isPublished;
  await Promise.all([isPublished, previous && table.publish(...previous)]);
};

export const companyEntry = (row: CompanyEntryRow): CompanyEntry => ({
  version: row.version,
  ...(row.closed_utc && { closed: true }),
  ...limitsOf(row),
  ...(row.temporary_limits !== null && { temporary: temporaryOf(row.temporary_limits) }),
});

export const temporaryOf = (text: string): TemporaryLimits => JSON.parse(text);

/** The limits of a company at a moment, as the gateways see them. */
export const companyLimitsNow = (
  row: RowOf<'companies', typeof companyLimitColumns>,
  now: Date,
): NonNullable<CompanyEntry['limits']> =>
  companyAt(companyEntry({ ...row, company_id: 0, version: 0, closed_utc: null }), now.getTime()).limits ??
  {};

const hashName = (hash: Buffer): string => keyEntryName(hash.toString('base64url'));
export const companyName = ({ company_id }: Pick<CompanyEntryRow, 'company_id'>): string =>
  companyEntryName(company_id);

const limitsOf = ({
  limit_read: read,
  limit_write: write,
  limit_admin: admin,
  limit_lookup: lookup,
}: LimitRow) => {
  const limits = {
    ...(read !== null && { read }),
    ...(write !== null && { write }),
    ...(admin !== null && { admin }),
    ...(lookup !== null && { lookup }),
  };
  return Object.keys(limits).length === 0 ? {} : { limits };
};

const pageRows = 5000;

const why = 'the key table holds the keys of all companies';

/** In pages; without keys that were revoked long ago. */
async function* expectedEntries(
  db: Database<AccessTables>,
  now: Date,
): AsyncGenerator<readonly (readonly [name: string, entry: VersionedEntry])[]> {
  const since = new Date(now.getTime() - keepRevokedMs);
  for (let after = 0; ; ) {
    const rows = await acrossTenants(db, why)
      .selectFrom('companies')
      .select(companyEntryColumns)
      .where('company_id', '>', after)
      .orderBy('company_id')
      .limit(pageRows)
      .execute();
    yield rows.map((row) => [companyName(row), companyEntry(row)] as const);
    if (rows.length < pageRows) break;
    after = rows.at(-1)!.company_id;
  }
  for (let after = 0; ; ) {
    const rows = await acrossTenants(db, why)
      .selectFrom('api_keys')
      .select(keyEntryColumns)
      .where('id', '>', after)
      .where((eb) => eb.or([eb('revoked_utc', 'is', null), eb('revoked_utc', '>', since)]))
      .orderBy('id')
      .limit(pageRows)
      .execute();
    yield rows.flatMap((row) => {
      const entries = keyEntries(row);
      return row.previous_active || (row.previous_until_utc ?? since) > since ? entries : entries.slice(0, 1);
    });
    if (rows.length < pageRows) break;
    after = rows.at(-1)!.id;
  }
}

export interface TableSource {
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly now: () => Date;
  /** The public keys with which services verify session proofs, by the names of the ring's keys. */
  readonly signers: ReadonlyMap<string, SignerEntry>;
}

export async function* tableEntries({ db, signers, now }: TableSource) {
  yield [...signers].map(([id, entry]) => [signerEntryName(id), entry] as const);
  yield* expectedEntries(db, now());
}

/** Counts of rows and sums of their versions. One of them grows with every change, because versions only grow. */
export interface RowTotals {
  readonly companies: number;
  readonly companyVersions: number;
  readonly keys: number;
  readonly keyVersions: number;
}

export const rowTotals = async (db: Database<AccessTables>): Promise<RowTotals> => {
  const totalsOf = async (table: 'companies' | 'api_keys') => {
    const { rows, versions } = await acrossTenants(db, why)
      .selectFrom(table)
      .select(({ fn }) => [fn.countAll().as('rows'), fn.sum('version').as('versions')])
      .executeTakeFirstOrThrow();
    return [Number(rows), Number(versions)] as const;
  };
  const [companies, companyVersions] = await totalsOf('companies');
  const [keys, keyVersions] = await totalsOf('api_keys');
  return { companies, companyVersions, keys, keyVersions };
};
