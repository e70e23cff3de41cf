import { signerEntryName } from '@causeway/proto';
import { acrossTenants, type Database } from '@causeway/runtime';
import type { AccessTables } from '../schema.ts';
import {
  companyEntry,
  companyEntryColumns,
  companyName,
  keyEntry,
  keyEntryColumns,
  keyName,
} from './entries.ts';
import { keepRevokedMs } from './expire.ts';
import type { TableSource } from './lift-rows.ts';
import type { VersionedEntry } from './write.ts';

const pageRows = 5000;

const why = 'the key table holds the keys of all companies';

/** Every entry that the table must hold now, in pages; without keys that were revoked long ago. */
export async function* expectedEntries(
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
    yield rows.map((row) => [keyName(row), keyEntry(row)] as const);
    if (rows.length < pageRows) break;
    after = rows.at(-1)!.id;
  }
}

/** The entries of the database's rows and of this service's signing keys. */
export async function* tableEntries({ db, signers, now }: TableSource) {
  yield [...signers].map(([id, entry]) => [signerEntryName(id), entry] as const);
  yield* expectedEntries(db, now());
}

/**
 * The number of rows of the key table's sources and the sums of their versions. One of them grows whenever a row is
 * added or changed, because versions only grow.
 */
export interface RowTotals {
  readonly companies: number;
  readonly companyVersions: number;
  readonly keys: number;
  readonly keyVersions: number;
}

export const rowTotals = async (db: Database<AccessTables>): Promise<RowTotals> => {
  const companies = await acrossTenants(db, why)
    .selectFrom('companies')
    .select(({ fn }) => [fn.countAll().as('rows'), fn.sum('version').as('versions')])
    .executeTakeFirstOrThrow();
  const keys = await acrossTenants(db, why)
    .selectFrom('api_keys')
    .select(({ fn }) => [fn.countAll().as('rows'), fn.sum('version').as('versions')])
    .executeTakeFirstOrThrow();
  return {
    companies: Number(companies.rows),
    companyVersions: Number(companies.versions),
    keys: Number(keys.rows),
    keyVersions: Number(keys.versions),
  };
};
