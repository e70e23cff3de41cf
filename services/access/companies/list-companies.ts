import { type AnswerTo, contract } from '@causeway/proto';
import { acrossTenants, handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { companyAnswer } from './company.ts';

export const listCompanies = (access: Access) =>
  handler(contract.listCompanies, async () => {
    const rows = await acrossTenants(access.db, 'an operator lists the companies')
      .selectFrom('companies')
      .select(['company_id', 'name', 'created_utc'])
      .orderBy('company_id')
      .execute();
    return json<AnswerTo<'listCompanies'>>(200, { companies: rows.map(companyAnswer) });
  });
