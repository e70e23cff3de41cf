import { keptClosedMs, startEmptying } from '@causeway/identity';
import { byOperator, conflict, contract, notFound } from '@causeway/proto';
import { handler, json, type Repeated, type Trx, transaction } from '@causeway/runtime';
import { audit } from './audit.ts';
import { companyAnswer, companyColumns, publishCompany } from './companies.ts';
import type { Access } from './context.ts';
import { keyEntryColumns, publishKey } from './key-table/entries.ts';
import { selectCompany, updateCompany } from './rows.ts';
import { type AccessTables, emptiedTables } from './schema.ts';

/**
 * One transaction ends keys, sessions and links. When this returns, no gateway accepts a key. `webhooks` switches the subscriptions
 * off. After 30 days, each service empties its tables of the company.
 */
export const closeCompany = (access: Access) =>
  handler(contract.closeCompany, async ({ body: { company_id }, requestId }) => {
    const { db, now } = access;
    const at = now();
    await transaction(db, async (trx) => {
      const company = await lockCompany(trx, company_id);
      if (company.closed_utc) return;
      await setClosed(trx, company_id, at);
      await trx
        .insertInto('closed_companies')
        .values({ company_id, closed_utc: at })
        .onDuplicateKeyUpdate({ closed_utc: at, opened_utc: null })
        .execute();
      await trx
        .updateTable('api_keys')
        .set((eb) => ({ is_active: 0, is_suspended: 1, version: eb('version', '+', 1) }))
        .where('company_id', '=', company_id)
        .where('is_active', '=', 1)
        .execute();
      await trx.deleteFrom('portal_sessions').where('company_id', '=', company_id).execute();
      const author = { companyId: company_id, by: byOperator(requestId), at };
      await audit(trx, author, 'company.closed', ['company', company_id, company.name]);
    });
    const row = await showCompany(access, company_id);
    const closed_utc = row.closed_utc ?? at;
    return json(200, {
      ...companyAnswer(row),
      closed_utc: closed_utc.toISOString(),
      kept_until_utc: new Date(closed_utc.getTime() + keptClosedMs).toISOString(),
    });
  });

/** @throws Problem `conflict` after the time for which data is kept */
export const openCompany = (access: Access) =>
  handler(contract.openCompany, async ({ body: { company_id }, requestId }) => {
    const { db, now } = access;
    const at = now();
    await transaction(db, async (trx) => {
      const company = await lockCompany(trx, company_id);
      if (!company.closed_utc) return;
      if (at.getTime() - company.closed_utc.getTime() > keptClosedMs)
        throw conflict('the company was closed more than 30 days ago; its data is being deleted');
      await setClosed(trx, company_id, null);
      await trx
        .updateTable('closed_companies')
        .set({ opened_utc: at })
        .where('company_id', '=', company_id)
        .execute();
      await trx
        .updateTable('api_keys')
        .set((eb) => ({ is_active: 1, is_suspended: 0, version: eb('version', '+', 1) }))
        .where('company_id', '=', company_id)
        .where('is_suspended', '=', 1)
        .execute();
      const author = { companyId: company_id, by: byOperator(requestId), at };
      await audit(trx, author, 'company.opened', ['company', company_id, company.name]);
    });
    return json(200, companyAnswer(await showCompany(access, company_id)));
  });

/** @throws Problem `not_found` */
export const lockCompany = (trx: Trx<AccessTables>, company_id: number) =>
  selectCompany(trx, company_id)
    .select(companyColumns)
    .forUpdate()
    .executeTakeFirstOrThrow(() => notFound('company'));

const setClosed = async (trx: Trx<AccessTables>, company_id: number, closed_utc: Date | null) => {
  await updateCompany(trx, company_id)
    .set((eb) => ({ closed_utc, version: eb('version', '+', 1) }))
    .execute();
};

/** Returns when every gateway has the company and its keys. */
const showCompany = async (access: Access, company_id: number) => {
  const { db, table } = access;
  const keys = await db
    .selectFrom('api_keys')
    .select(keyEntryColumns)
    .where('company_id', '=', company_id)
    .where((eb) => eb.or([eb('is_active', '=', 1), eb('is_suspended', '=', 1)]))
    .execute();
  const [company] = await Promise.all([
    publishCompany(access, company_id),
    ...keys.map((key) => publishKey(table, key)),
  ]);
  return company;
};

/** `access` deletes the company itself once every service has emptied its tables. */
export const startEmptyingAccess = ({ db, log, now }: Pick<Access, 'db' | 'log' | 'now'>): Repeated =>
  startEmptying({
    ...{ db, log, now, ...emptiedTables },
    onEmpty: async ({ company_id, crm_emptied_utc, webhooks_emptied_utc }) => {
      if (!crm_emptied_utc || !webhooks_emptied_utc) return;
      await transaction(db, async (trx) => {
        await trx.deleteFrom('companies').where('company_id', '=', company_id).execute();
        await trx.deleteFrom('closed_companies').where('company_id', '=', company_id).execute();
      });
      log.info({ companyId: company_id }, 'closed company deleted');
    },
  });
