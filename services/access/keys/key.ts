import { type KeyAnswer, maskKey, type Scope } from '@causeway/proto';

/** The columns of a key's answer. */
export const keyColumns = [
  'company_id',
  'id',
  'name',
  'prefix',
  'last4',
  'scopes',
  'is_active',
  'created_utc',
  'revoked_utc',
  'last_used_utc',
] as const;

export interface KeyRow {
  readonly company_id: number;
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly scopes: string;
  readonly is_active: number;
  readonly created_utc: Date;
  readonly revoked_utc: Date | null;
  readonly last_used_utc: Date | null;
}

/** A key as it may be shown: without its value. */
export const keyAnswer = (row: KeyRow): KeyAnswer => ({
  id: row.id,
  company_id: row.company_id,
  name: row.name,
  scopes: row.scopes.split(' ') as Scope[],
  masked: maskKey({ prefix: row.prefix, companyId: row.company_id, last4: row.last4 }),
  is_active: row.is_active === 1,
  created_utc: row.created_utc.toISOString(),
  revoked_utc: row.revoked_utc?.toISOString() ?? null,
  last_used_utc: row.last_used_utc?.toISOString() ?? null,
});
