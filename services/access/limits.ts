import { type AnswerTo, type AuditSource, changes, contract, notFound } from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import { audit, byOperator } from './audit.ts';
import type { Access } from './context.ts';
import {
  companyEntry,
  companyEntryColumns,
  companyName,
  keyEntry,
  keyEntryColumns,
  keyName,
  type LimitRow,
} from './key-table/entries.ts';
import { companyOfKey, limitsAnswer } from './keys/keys.ts';

/** A limit that is not named stays; null resets it to the configured one. */
export const setLimits = (access: Access) =>
  handler(contract.setLimits, async ({ body, requestId }) => {
    const { company_id, id, read, write, admin, lookup } = body;
    const set = {
      ...(read !== undefined && { limit_read: read }),
      ...(write !== undefined && { limit_write: write }),
      ...(admin !== undefined && { limit_admin: admin }),
      ...(lookup !== undefined && { limit_lookup: lookup }),
    };
    const by = byOperator(requestId);
    return json<AnswerTo<'setLimits'>>(
      200,
      await (id === undefined ? ofCompany(access, company_id!, set, by) : ofKey(access, id, set, by)),
    );
  });

const ofCompany = async (
  { db, table, now }: Access,
  company_id: number,
  set: Partial<LimitRow>,
  by: AuditSource,
) => {
  const row = await transaction(db, async (trx) => {
    const find = () =>
      trx
        .selectFrom('companies')
        .select([...companyEntryColumns, 'name'])
        .where('company_id', '=', company_id)
        .forUpdate()
        .executeTakeFirst();
    const before = await find();
    if (!before) throw notFound('company');
    await trx
      .updateTable('companies')
      .set((eb) => ({ ...set, version: eb('version', '+', 1) }))
      .where('company_id', '=', company_id)
      .execute();
    const after = (await find())!;
    const author = { companyId: company_id, by, at: now() };
    const target = ['company', company_id, before.name] as const;
    await audit(trx, author, 'limits.changed', target, limitChanges(before, after));
    return after;
  });
  await table.publish(companyName(row), companyEntry(row));
  return { company_id, limits: limitsAnswer(row) };
};

const ofKey = async (access: Access, id: number, set: Partial<LimitRow>, by: AuditSource) => {
  const { db, table, now } = access;
  const company_id = await companyOfKey(access, id);
  const row = await transaction(db, async (trx) => {
    const find = () =>
      trx
        .selectFrom('api_keys')
        .select([...keyEntryColumns, 'name'])
        .where('company_id', '=', company_id)
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirstOrThrow();
    const before = await find();
    await trx
      .updateTable('api_keys')
      .set((eb) => ({ ...set, version: eb('version', '+', 1) }))
      .where('company_id', '=', company_id)
      .where('id', '=', id)
      .execute();
    const after = await find();
    const author = { companyId: company_id, by, at: now() };
    await audit(trx, author, 'limits.changed', ['key', id, before.name], limitChanges(before, after));
    return after;
  });
  await table.publish(keyName(row), keyEntry(row));
  return { company_id, id, limits: limitsAnswer(row) };
};

const limitChanges = (before: LimitRow, after: LimitRow) =>
  changes(limitsAnswer(before), limitsAnswer(after));
