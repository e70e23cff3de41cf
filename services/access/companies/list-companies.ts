import type { Access } from '../context.ts';
import { operatorHandler } from '../operator-handler.ts';
import { companyAnswer } from './company.ts';

export const listCompanies = (access: Access) =>
  operatorHandler(access, 'listCompanies', async () => {
    const rows = await access.db
      .selectFrom('companies')
      .select(['company_id', 'name', 'created_utc'])
      .orderBy('company_id')
      .execute();
    return { companies: rows.map(companyAnswer) };
  });
