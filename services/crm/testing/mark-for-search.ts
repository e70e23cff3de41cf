import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * Marks a client for the search index. Call it in the transaction that creates a client or changes its name or email:
 * after the commit, every replica's search finds the client. It inserts one row, so writers do not wait for each
 * other.
 */
export const markForSearch = async (
  trx: Kysely<Tables>,
  companyId: number,
  clientId: number,
): Promise<void> => {
  await trx
    .insertInto('client_search_pending')
    .values({ company_id: companyId, client_id: clientId })
    .execute();
};
