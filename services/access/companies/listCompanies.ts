import { operatorContract, parseBody } from '@causeway/proto';
import { each, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { companyAnswer } from './company.ts';

export const listCompanies = ({ db }: Access) =>
  each(async (call) => {
    parseBody(operatorContract.listCompanies, call.body);
    const rows = await db
      .selectFrom('companies')
      .select(['company_id', 'name', 'created_utc'])
      .orderBy('company_id')
      .execute();
    return json(200, { companies: rows.map(companyAnswer) });
  });
