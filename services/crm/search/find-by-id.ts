import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import { type FoundClient, foundColumns } from './find-by-text.ts';

/** The client with this id, if the company has it. Accepts any number, even one that no id can have. */
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
