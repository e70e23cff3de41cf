import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import { type FoundClient, foundColumns } from './find-by-text.ts';
import { reversedDigits } from './phone.ts';

/** Clients whose external id starts with the query, upper and lower case apart, in the ids' order. */
export const findByExternalId = (
  db: Kysely<Tables>,
  companyId: number,
  query: string,
  limit: number,
): Promise<FoundClient[]> => findByPrefix(db, companyId, 'external_id', query, limit);

/** Fewer digits end too many numbers, and would push every other match out of the answer. */
const minPhoneDigits = 3;

/**
 * Clients whose phone number ends with the digits of the query, which must consist of what phone numbers are
 * written with and hold at least three digits (contract, "Client search").
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

/** In the order of the column's index, which so ends the query after `limit` rows. */
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
