import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Whether the company requires endpoint verification (contract, "Endpoint verification"). */
export const verifiesEndpoints = async (db: Kysely<Tables>, companyId: number): Promise<boolean> => {
  const company = await db
    .selectFrom('webhook_companies')
    .select('verify_endpoints')
    .where('company_id', '=', companyId)
    .executeTakeFirst();
  return company?.verify_endpoints === 1;
};
