import {
  type CompanyEntry,
  companyEntryName,
  type KeyEntry,
  keyEntryName,
  type Scope,
} from '@causeway/proto';
import { type LimitRow, limitColumns } from '../limits/limits.ts';

/** The columns of an entry. */
export const keyEntryColumns = [
  'company_id',
  'id',
  'key_hash',
  'scopes',
  'is_active',
  'version',
  ...limitColumns,
] as const;
export const companyEntryColumns = ['company_id', 'version', ...limitColumns] as const;

export interface KeyEntryRow extends LimitRow {
  readonly company_id: number;
  readonly id: number;
  readonly key_hash: Buffer;
  readonly scopes: string;
  readonly is_active: number;
  readonly version: number;
}

export interface CompanyEntryRow extends LimitRow {
  readonly company_id: number;
  readonly version: number;
}

/**
 * What gateways need to know about a key. A row version always gives the same text, including the order of fields.
 */
export const keyEntry = (row: KeyEntryRow): KeyEntry => ({
  version: row.version,
  id: row.id,
  companyId: row.company_id,
  scopes: row.scopes.split(' ') as Scope[],
  active: row.is_active === 1,
  ...limitsOf(row),
});

export const companyEntry = (row: CompanyEntryRow): CompanyEntry => ({
  version: row.version,
  ...limitsOf(row),
});

/** The name of a row's entry in the table. */
export const keyName = ({ key_hash }: Pick<KeyEntryRow, 'key_hash'>): string =>
  keyEntryName(key_hash.toString('base64url'));
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
