import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Call it in a transaction that creates or renames a client. One row: writers never wait for each other. */
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
