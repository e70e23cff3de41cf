import { operatorContract, parseBody } from '@causeway/proto';
import { each, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { companyEntry, companyName } from '../key-table/entries.ts';
import { companyAnswer } from './company.ts';

export const createCompany = ({ db, table, now }: Access) =>
  each(async (call) => {
    const { name } = parseBody(operatorContract.createCompany, call.body);
    const created_utc = now();
    const { insertId } = await db
      .insertInto('companies')
      .values({ name, created_utc })
      .executeTakeFirstOrThrow();
    const company = { company_id: Number(insertId), name, created_utc };
    const row = { ...company, version: 1, limit_read: null, limit_write: null, limit_admin: null };
    await table.publish(companyName(row), companyEntry(row));
    return json(201, companyAnswer(company));
  });
