import { operatorContract, parseBody } from '@causeway/proto';
import { acrossTenants, each, json } from '@causeway/runtime';
import { requireCompany } from '../companies/require-company.ts';
import type { Access } from '../context.ts';
import { keyAnswer, keyColumns } from './key.ts';

export const listKeys = (access: Access) =>
  each(async (call) => {
    const { db } = access;
    const { company_id } = parseBody(operatorContract.listKeys, call.body);
    if (company_id === undefined) {
      const everyones = acrossTenants(db, 'an operator lists the keys of all companies');
      const rows = await everyones.selectFrom('api_keys').select(keyColumns).orderBy('id').execute();
      return json(200, { keys: rows.map(keyAnswer) });
    }
    await requireCompany(access, company_id);
    const rows = await db
      .selectFrom('api_keys')
      .select(keyColumns)
      .where('company_id', '=', company_id)
      .orderBy('id')
      .execute();
    return json(200, { keys: rows.map(keyAnswer) });
  });
