import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * Call it in the transaction that makes a client or changes its name or email: once that is committed, every
 * replica's search knows the client. One row; no writer waits for another.
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
