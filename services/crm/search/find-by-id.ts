import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import { type FoundClient, foundColumns } from './find-by-text.ts';

/** The client of this id, if the company has it. Any number may be asked for, also one that no id can be. */
export const findById = async (
  db: Kysely<Tables>,
  companyId: number,
  clientId: number,
): Promise<readonly FoundClient[]> => {
  if (!Number.isSafeInteger(clientId)) return [];
  return db
    .selectFrom('clients')
    .select(foundColumns)
    .where('company_id', '=', companyId)
    .where('client_id', '=', clientId)
    .execute();
};
