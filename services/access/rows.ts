import type { Kysely } from 'kysely';
import type { AccessTables } from './schema.ts';

type Db = Kysely<AccessTables>;

export const selectCompany = (db: Db, companyId: number) =>
  db.selectFrom('companies').where('company_id', '=', companyId);

export const updateCompany = (db: Db, companyId: number) =>
  db.updateTable('companies').where('company_id', '=', companyId);

export const readCompanyName = async (db: Db, companyId: number): Promise<string> =>
  (await selectCompany(db, companyId).select('name').executeTakeFirstOrThrow()).name;

export const selectKey = (db: Db, companyId: number, id: number) =>
  db.selectFrom('api_keys').where('company_id', '=', companyId).where('id', '=', id);

export const updateKey = (db: Db, companyId: number, id: number) =>
  db.updateTable('api_keys').where('company_id', '=', companyId).where('id', '=', id);

export const selectPasskeys = (db: Db, companyId: number, userId: number) =>
  db.selectFrom('portal_passkeys').where('company_id', '=', companyId).where('user_id', '=', userId);

export const updateSession = (db: Db, companyId: number, sessionId: number) =>
  db.updateTable('portal_sessions').where('company_id', '=', companyId).where('session_id', '=', sessionId);
