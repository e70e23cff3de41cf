import type { Access } from '../context.ts';
import { companyEntry, companyName } from '../key-table/entries.ts';
import { operatorHandler } from '../operator-handler.ts';
import { companyAnswer } from './company.ts';

export const createCompany = (access: Access) =>
  operatorHandler(access, 'createCompany', async ({ name }) => {
    const { db, table, now } = access;
    const created_utc = now();
    const { insertId } = await db
      .insertInto('companies')
      .values({ name, created_utc })
      .executeTakeFirstOrThrow();
    const company = { company_id: Number(insertId), name, created_utc };
    const row = { ...company, version: 1, limit_read: null, limit_write: null, limit_admin: null };
    await table.publish(companyName(row), companyEntry(row));
    return companyAnswer(company);
  });
