import { maskKey } from '@causeway/identity';
import { type AnswerTo, type KeyAnswer, type LimitsAnswer, notFound, type Scope } from '@causeway/proto';
import type { Kysely } from 'kysely';
import { keyEntryColumns, type LimitRow } from '../key-table/entries.ts';
import { selectKey } from '../rows.ts';
import type { AccessTables, RowOf } from '../schema.ts';

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
  'note',
  'expires_utc',
  'networks',
  'previous_last4',
  'previous_until_utc',
  'previous_active',
] as const;

export type KeyRow = RowOf<'api_keys', typeof keyColumns>;

/** With all that answers and the key table show. @throws Problem `not_found` */
export const readKey = (db: Kysely<AccessTables>, companyId: number, id: number, locks = false) =>
  selectKey(db, companyId, id)
    .select([...keyColumns, ...keyEntryColumns])
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirstOrThrow(() => notFound('key'));

export type StoredKey = Awaited<ReturnType<typeof readKey>>;

const shownKey = (row: KeyRow) => ({
  id: row.id,
  name: row.name,
  scopes: row.scopes.split(' ') as Scope[],
  masked: masked(row, row.last4),
});

const masked = ({ prefix, company_id: companyId }: KeyRow, last4: string): string =>
  maskKey({ prefix, companyId, last4 });

export const keyAnswer = (row: KeyRow): KeyAnswer => ({
  ...shownKey(row),
  company_id: row.company_id,
  is_active: row.is_active === 1,
  created_utc: row.created_utc.toISOString(),
  revoked_utc: row.revoked_utc?.toISOString() ?? null,
  last_used_utc: row.last_used_utc?.toISOString() ?? null,
});

export const portalKey = (row: KeyRow & LimitRow): AnswerTo<'listApiKeys'>['keys'][number] => ({
  ...shownKey(row),
  isActive: row.is_active === 1,
  createdUtc: row.created_utc.toISOString(),
  revokedUtc: row.revoked_utc?.toISOString() ?? null,
  lastUsedUtc: row.last_used_utc?.toISOString() ?? null,
  note: row.note,
  networks: networksOf(row),
  expiresUtc: row.expires_utc?.toISOString() ?? null,
  limits: limitsAnswer(row),
  previous:
    row.is_active && row.previous_active
      ? { masked: masked(row, row.previous_last4!), untilUtc: row.previous_until_utc!.toISOString() }
      : null,
});

export const networksOf = ({ networks }: Pick<KeyRow, 'networks'>): string[] => networks?.split(' ') ?? [];

export const limitsAnswer = (row: LimitRow): LimitsAnswer => ({
  read: row.limit_read,
  write: row.limit_write,
  admin: row.limit_admin,
  lookup: row.limit_lookup,
});
