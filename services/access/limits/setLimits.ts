import { notFound } from '@causeway/proto';
import type { Access } from '../context.ts';
import {
  companyEntry,
  companyEntryColumns,
  companyName,
  keyEntry,
  keyEntryColumns,
  keyName,
} from '../key-table/entries.ts';
import { companyOfKey } from '../keys/find-key.ts';
import { operatorHandler } from '../operator-handler.ts';
import { type LimitRow, limitsAnswer } from './limits.ts';

/** Limits of a company, or of one key; a limit that is not named stays, null takes it back to the configured one. */
export const setLimits = (access: Access) =>
  operatorHandler(access, 'setLimits', ({ company_id, id, read, write, admin }) => {
    const changes = {
      ...(read !== undefined && { limit_read: read }),
      ...(write !== undefined && { limit_write: write }),
      ...(admin !== undefined && { limit_admin: admin }),
    };
    return id === undefined ? ofCompany(access, company_id!, changes) : ofKey(access, id, changes);
  });

const ofCompany = async ({ db, table }: Access, company_id: number, changes: Partial<LimitRow>) => {
  await db
    .updateTable('companies')
    .set((eb) => ({ ...changes, version: eb('version', '+', 1) }))
    .where('company_id', '=', company_id)
    .execute();
  const row = await db
    .selectFrom('companies')
    .select(companyEntryColumns)
    .where('company_id', '=', company_id)
    .executeTakeFirst();
  if (!row) throw notFound('company');
  await table.publish(companyName(row), companyEntry(row));
  return { company_id, limits: limitsAnswer(row) };
};

const ofKey = async (access: Access, id: number, changes: Partial<LimitRow>) => {
  const { db, table } = access;
  const company_id = await companyOfKey(access, id);
  await db
    .updateTable('api_keys')
    .set((eb) => ({ ...changes, version: eb('version', '+', 1) }))
    .where('company_id', '=', company_id)
    .where('id', '=', id)
    .execute();
  const row = await db
    .selectFrom('api_keys')
    .select(keyEntryColumns)
    .where('company_id', '=', company_id)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await table.publish(keyName(row), keyEntry(row));
  return { company_id, id, limits: limitsAnswer(row) };
};
