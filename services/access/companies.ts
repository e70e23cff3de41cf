import {
  type AnswerTo,
  byOperator,
  type CompanyAnswer,
  contract,
  notFound,
  parseCall,
  problem,
} from '@causeway/proto';
import { acrossTenants, each, handler, json, laneHandler, transaction } from '@causeway/runtime';
import { sql } from 'kysely';
import { audit } from './audit.ts';
import type { Access } from './context.ts';
import { companyEntry, companyEntryColumns, companyName } from './key-table/entries.ts';
import { selectCompany } from './rows.ts';
import type { RowOf } from './schema.ts';

export const createCompany = (access: Access) =>
  handler(contract.createCompany, async ({ body, requestId }) => {
    const { name } = body;
    const created_utc = access.now();
    const company_id = await transaction(access.db, async (trx) => {
      const { insertId } = await trx
        .insertInto('companies')
        .values({ name, created_utc })
        .executeTakeFirstOrThrow();
      const companyId = Number(insertId);
      const author = { companyId, by: byOperator(requestId), at: created_utc };
      await audit(trx, author, 'company.created', ['company', companyId, name], { after: { name } });
      return companyId;
    });
    return json<AnswerTo<'createCompany'>>(201, companyAnswer(await publishCompany(access, company_id)));
  });

/** Returns when every gateway has the company. */
export const publishCompany = async ({ db, table }: Access, company_id: number) => {
  const company = await selectCompany(db, company_id)
    .select([...companyColumns, ...companyEntryColumns])
    .executeTakeFirstOrThrow();
  await table.publish(companyName(company), companyEntry(company));
  return company;
};

export const listCompanies = (access: Access) =>
  handler(contract.listCompanies, async () => {
    const rows = await acrossTenants(access.db, 'an operator lists the companies')
      .selectFrom('companies')
      .select(companyColumns)
      .orderBy('company_id')
      .execute();
    return json<AnswerTo<'listCompanies'>>(200, { companies: rows.map(companyAnswer) });
  });

/** Of the last five minutes. */
export const listRequestsByCompany = ({ db, now }: Access) =>
  handler(contract.listRequestsByCompany, async () => {
    const minutes = 5;
    const rows = await acrossTenants(db, 'an operator asks which companies make many requests')
      .selectFrom('request_minutes as r')
      .innerJoin('companies as c', 'c.company_id', 'r.company_id')
      .select((eb) => [
        'c.company_id',
        'c.name',
        // Failed ones are among the answered.
        eb.fn.sum<number>(sql`r.answered + r.limited`).as('requests'),
        eb.fn.sum<number>('r.limited').as('refused'),
      ])
      .where('r.minute_utc', '>', new Date(now().getTime() - minutes * 60_000))
      .groupBy(['c.company_id', 'c.name'])
      .execute();
    const each = (sum: number): number => Math.round(Number(sum) / minutes);
    return json(200, {
      companies: rows.map(({ company_id, name, requests, refused }) => ({
        company_id,
        name,
        requests_a_minute: each(requests),
        refused_a_minute: each(refused),
      })),
    });
  });

/** Trusts only the key's hash: a compromised gateway could claim any key. The gateway adds what it knows. */
export const getMe = ({ db }: Access) =>
  laneHandler(
    contract.getMe,
    each(async (call) => {
      parseCall(contract.getMe, call);
      const hash = Buffer.from(call.key?.proof ?? '', 'base64url');
      const row = await db
        .selectFrom('api_keys')
        .innerJoin('companies', 'companies.company_id', 'api_keys.company_id')
        .select(['api_keys.id', 'api_keys.name', 'companies.company_id', 'companies.name as company'])
        .where('api_keys.company_id', '=', call.tenant)
        .where((eb) => eb.or([eb('key_hash', '=', hash), eb('previous_hash', '=', hash)]))
        .where('is_active', '=', 1)
        .executeTakeFirstOrThrow(() => problem('unauthorized'));
      const { id, name, company_id, company } = row;
      return json(200, { key: { id, name }, company: { id: company_id, name: company } });
    }),
  );

/** @throws Problem `not_found` */
export const requireCompany = async ({ db }: Access, company_id: number): Promise<void> => {
  await selectCompany(db, company_id)
    .select('company_id')
    .executeTakeFirstOrThrow(() => notFound('company'));
};

export const companyColumns = ['company_id', 'name', 'created_utc', 'closed_utc'] as const;
type CompanyRow = RowOf<'companies', typeof companyColumns>;

export const companyAnswer = ({ company_id, name, created_utc, closed_utc }: CompanyRow): CompanyAnswer => ({
  company_id,
  name,
  created_utc: created_utc.toISOString(),
  ...(closed_utc && { closed_utc: closed_utc.toISOString() }),
});
