import { type AnswerTo, problem, scopes } from '@causeway/proto';
import type { Access } from '../context.ts';
import { sessionsOfSignIn } from './sign-in-group.ts';

export type SessionFacts = AnswerTo<'getSession'>;

/**
 * What a page needs to know about the member who looks at it. @throws Problem `signed_out` if the session has just
 * ended
 */
export const sessionFacts = async (
  access: Access,
  companyId: number,
  sessionId: number,
): Promise<SessionFacts> => {
  const { db, keyPrefix, portal } = access;
  const row = await db
    .selectFrom('portal_sessions as session')
    .innerJoin('portal_users as person', (join) =>
      join.on('person.company_id', '=', companyId).onRef('person.id', '=', 'session.user_id'),
    )
    .innerJoin('companies as company', 'company.company_id', 'session.company_id')
    .select([
      'person.id',
      'person.email',
      'person.name',
      'person.role',
      'person.totp_enabled',
      'company.name as company_name',
      'company.limit_read',
      'company.limit_write',
      'company.limit_admin',
      'company.limit_lookup',
      'session.created_utc',
      'session.sign_in',
    ])
    .where('session.company_id', '=', companyId)
    .where('session.session_id', '=', sessionId)
    .executeTakeFirst();
  if (!row) throw problem('signed_out');
  const codes = await db
    .selectFrom('portal_recovery_codes')
    .select((eb) => eb.fn.countAll<number>().as('left'))
    .where('company_id', '=', companyId)
    .where('user_id', '=', row.id)
    .executeTakeFirstOrThrow();
  const { limits } = portal;
  const opened = row.sign_in === null ? [] : await sessionsOfSignIn(access, row.sign_in);
  return {
    user: {
      id: row.id,
      email: row.email,
      name: row.name,
      role: row.role,
      totpEnabled: row.totp_enabled === 1,
      recoveryCodesLeft: Number(codes.left),
    },
    company: { id: companyId, name: row.company_name },
    otherCompanies: opened
      .filter((one) => one.company_id !== companyId)
      .map(({ company_id, company_name, role, state }) => ({
        id: company_id,
        name: company_name,
        role,
        codeRequired: state === 'code',
      })),
    session: {
      id: sessionId,
      createdUtc: row.created_utc.toISOString(),
      expiresUtc: new Date(row.created_utc.getTime() + portal.sessionTimeoutMs).toISOString(),
      idleTimeoutMs: portal.idleTimeoutMs,
    },
    keyPrefix,
    scopes: [...scopes],
    limits: {
      read: row.limit_read ?? limits.read,
      write: row.limit_write ?? limits.write,
      admin: row.limit_admin ?? limits.admin,
      lookup: row.limit_lookup ?? limits.lookup,
    },
    features: portal.features,
    settings: { retentionDays: portal.retentionDays, retryForMs: portal.retryForMs },
    baseUrl: portal.baseUrl,
  };
};
