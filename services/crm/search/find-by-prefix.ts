import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import { type FoundClient, foundColumns } from './find-by-text.ts';
import { reversedDigits } from './phone.ts';

/** Clients whose external id starts with the query (case-sensitive), ordered by external id. */
export const findByExternalId = (
  db: Kysely<Tables>,
  companyId: number,
  query: string,
  limit: number,
): Promise<FoundClient[]> => findByPrefix(db, companyId, 'external_id', query, limit);

/** Fewer digits would match too many numbers and push every other match out of the answer. */
const minPhoneDigits = 3;

/**
 * Clients whose phone number ends with the digits of the query. The query must consist of the characters of phone
 * numbers and contain at least three digits (contract, "Client search").
 */
export const findByPhone = async (
  db: Kysely<Tables>,
  companyId: number,
  query: string,
  limit: number,
): Promise<readonly FoundClient[]> => {
  const reversed = /^[\d\s+().\-/x]+$/.test(query) ? reversedDigits(query) : '';
  return reversed.length < minPhoneDigits
    ? []
    : findByPrefix(db, companyId, 'phone_reversed', reversed, limit);
};

/** Sorted by the column's index, so the query stops after `limit` rows. */
const findByPrefix = (
  db: Kysely<Tables>,
  companyId: number,
  column: 'external_id' | 'phone_reversed',
  prefix: string,
  limit: number,
): Promise<FoundClient[]> =>
  db
    .selectFrom('clients')
    .select(foundColumns)
    .where('company_id', '=', companyId)
    .where(column, 'like', `${prefix.replace(/[\\%_]/g, '\\$&')}%`)
    .orderBy(column)
    .limit(limit)
    .execute();
