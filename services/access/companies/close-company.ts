import { type AnswerTo, type AuditAction, contract, notFound } from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import { byOperator } from '../audit/operator.ts';
import { writeAudit } from '../audit/write-audit.ts';
import type { Access } from '../context.ts';
import {
  companyEntry,
  companyEntryColumns,
  companyName,
  keyEntry,
  keyEntryColumns,
  keyName,
} from '../key-table/entries.ts';
import { companyAnswer } from './company.ts';

/** Closes a company in this cell before it moves to another. When it has answered, no gateway accepts its requests. */
export const closeCompany = (access: Access) =>
  handler(contract.closeCompany, async ({ body, requestId }) => {
    const company = await change(access, body.company_id, access.now(), 'company.closed', requestId);
    await access.table.publish(companyName(company), companyEntry(company));
    return json<AnswerTo<'closeCompany'>>(200, companyAnswer(company));
  });

/**
 * Opens a company in the cell that it has moved to. Its keys are shown to the gateways first: from the moment that they
 * see the company open, they look for its keys here. If the company was in this cell before, the table may still admit
 * keys that were revoked in the other one.
 */
export const openCompany = (access: Access) =>
  handler(contract.openCompany, async ({ body, requestId }) => {
    const company = await change(access, body.company_id, null, 'company.opened', requestId);
    const keysThat = (is_active: 0 | 1) =>
      access.db
        .selectFrom('api_keys')
        .select(keyEntryColumns)
        .where('company_id', '=', company.company_id)
        .where('is_active', '=', is_active)
        .execute();
    const revoked = await keysThat(0);
    const held = await Promise.all(revoked.map((key) => access.table.holds(keyName(key))));
    for (const key of [...revoked.filter((_, at) => held[at]), ...(await keysThat(1))])
      await access.table.publish(keyName(key), keyEntry(key));
    await access.table.publish(companyName(company), companyEntry(company));
    return json<AnswerTo<'openCompany'>>(200, companyAnswer(company));
  });

/** Repeating it changes nothing. @throws Problem `not_found` */
const change = async (
  { db, now }: Access,
  company_id: number,
  closed_utc: Date | null,
  action: AuditAction,
  requestId: string,
) =>
  transaction(db, async (trx) => {
    const find = () =>
      trx
        .selectFrom('companies')
        .select([...companyEntryColumns, 'name', 'created_utc'])
        .where('company_id', '=', company_id)
        .forUpdate()
        .executeTakeFirst();
    const before = await find();
    if (!before) throw notFound('company');
    if ((before.closed_utc === null) === (closed_utc === null)) return before;
    await trx
      .updateTable('companies')
      .set((eb) => ({ closed_utc, version: eb('version', '+', 1) }))
      .where('company_id', '=', company_id)
      .execute();
    await writeAudit(trx, {
      companyId: company_id,
      by: byOperator(requestId),
      action,
      target: { kind: 'company', id: company_id, name: before.name },
      at: now(),
    });
    return (await find())!;
  });
