import { acrossTenants, type Database } from '@causeway/runtime';
import { indexCompany } from '../search/index-company.ts';
import type { Tables } from '../tables.ts';

export const indexAll = async (db: Database<Tables>): Promise<void> => {
  for (;;) {
    const companies = await acrossTenants(db, 'a test indexes everything')
      .selectFrom('client_search_pending')
      .select('company_id')
      .distinct()
      .execute();
    if (companies.length === 0) return;
    for (const { company_id } of companies) while ((await indexCompany(db, company_id)) > 0);
  }
};
