import { type AnswerTo, contract } from '@causeway/proto';
import { acrossTenants, handler, json } from '@causeway/runtime';
import { requireCompany } from '../companies/require-company.ts';
import type { Access } from '../context.ts';
import { keyAnswer, keyColumns } from './key.ts';

export const listKeys = (access: Access) =>
  handler(contract.listKeys, async ({ body }) => {
    const { company_id } = body;
    const { db } = access;
    if (company_id === undefined) {
      const everyones = acrossTenants(db, 'an operator lists the keys of all companies');
      const rows = await everyones.selectFrom('api_keys').select(keyColumns).orderBy('id').execute();
      return json<AnswerTo<'listKeys'>>(200, { keys: rows.map(keyAnswer) });
    }
    await requireCompany(access, company_id);
    const rows = await db
      .selectFrom('api_keys')
      .select(keyColumns)
      .where('company_id', '=', company_id)
      .orderBy('id')
      .execute();
    return json<AnswerTo<'listKeys'>>(200, { keys: rows.map(keyAnswer) });
  });
