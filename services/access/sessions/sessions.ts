import { type AnswerTo, contract, notFound, problem, scopes, sessionTokenHeader } from '@causeway/proto';
import { acrossTenants, handler, json, type Trx, transaction } from '@causeway/runtime';
import { audit, authorOf, type MemberCall } from '../audit.ts';
import type { Access } from '../context.ts';
import { companyLimitsNow } from '../key-table/entries.ts';
import type { AccessTables } from '../schema.ts';
import { endSessions } from './end.ts';
import { updateMember } from './person.ts';

export const getSession = (access: Access) =>
  handler(contract.getSession, async ({ companyId, user }) =>
    json(200, await sessionFacts(access, companyId, user.sessionId)),
  );

export const listSessions = ({ db, now, portal }: Access) =>
  handler(contract.listSessions, async ({ companyId, user }) => {
    const at = now().getTime();
    const rows = await db
      .selectFrom('portal_sessions')
      .select(['session_id', 'created_utc', 'last_used_utc', 'address', 'user_agent'])
      .where('company_id', '=', companyId)
      .where('user_id', '=', user.id)
      .where('state', '=', 'open')
      .where('created_utc', '>', new Date(at - portal.sessionTimeoutMs))
      .where('last_used_utc', '>', new Date(at - portal.idleTimeoutMs))
      .orderBy('last_used_utc', 'desc')
      .execute();
    const sessions = rows.map((row) => ({
      id: row.session_id,
      createdUtc: row.created_utc.toISOString(),
      lastUsedUtc: row.last_used_utc.toISOString(),
      expiresUtc: new Date(row.created_utc.getTime() + portal.sessionTimeoutMs).toISOString(),
      address: row.address,
      userAgent: row.user_agent,
      current: row.session_id === user.sessionId,
    }));
    return json(200, { sessions: sessions.toSorted((a, b) => Number(b.current) - Number(a.current)) });
  });

/** Members may revoke only their own sessions; another member's is not found. */
export const revokeSession = (access: Access) =>
  handler(contract.revokeSession, async (call) => {
    const { companyId, user } = call;
    const sessionId = call.id('session');
    await transaction(access.db, async (trx) => {
      const ended = await endSessions(trx, { companyId, userId: user.id, only: sessionId });
      if (ended === 0) throw notFound('session');
      await auditEnd(access, trx, call, sessionId);
    });
    const own = sessionId === user.sessionId;
    return { status: 204, body: null, ...(own && { headers: { [sessionTokenHeader]: '' } }) };
  });

export const revokeOtherSessions = (access: Access) =>
  handler(contract.revokeOtherSessions, async (call) => {
    const { companyId, user } = call;
    const revoked = await transaction(access.db, async (trx) => {
      const ended = await endSessions(trx, { companyId, userId: user.id, except: user.sessionId });
      if (ended === 0) return 0;
      const target = ['session', null, 'all others'] as const;
      await audit(trx, authorOf(access, call), 'session.ended', target, { after: { count: ended } });
      return ended;
    });
    return json(200, { revoked });
  });

export const signOut = (access: Access) =>
  handler(contract.signOut, async (call) => {
    const { companyId, user } = call;
    await transaction(access.db, async (trx) => {
      const ended = await endSessions(trx, { companyId, userId: user.id, only: user.sessionId });
      if (ended > 0) await auditEnd(access, trx, call, user.sessionId);
    });
    return { status: 204, body: null, headers: { [sessionTokenHeader]: '' } };
  });

const auditEnd = (
  access: Access,
  trx: Trx<AccessTables>,
  call: MemberCall,
  sessionId: number,
): Promise<void> => {
  const author = authorOf(access, call);
  return audit(trx, author, 'session.ended', ['session', sessionId, author.by.name]);
};

export const updateProfile = (access: Access) =>
  handler(contract.updateProfile, async (call) => {
    const { companyId, user, body } = call;
    await transaction(access.db, async (trx) => {
      await updateMember(trx, companyId, user.id).set({ name: body.name }).execute();
      if (body.name === user.name) return;
      await audit(trx, authorOf(access, call), 'profile.changed', ['member', user.id, user.email], {
        before: { name: user.name },
        after: { name: body.name },
      });
    });
    return json(200, await sessionFacts(access, companyId, user.sessionId));
  });

export type SessionFacts = AnswerTo<'getSession'>;

/** @throws Problem `signed_out` if the session has just ended */
export const sessionFacts = async (
  access: Access,
  companyId: number,
  sessionId: number,
): Promise<SessionFacts> => {
  const { db, keyPrefix, now, portal } = access;
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
      'person.passkeys',
      'company.require_factor',
      'company.name as company_name',
      'company.limit_read',
      'company.limit_write',
      'company.limit_admin',
      'company.limit_lookup',
      'company.temporary_limits',
      'session.created_utc',
      'session.sign_in',
    ])
    .where('session.company_id', '=', companyId)
    .where('session.session_id', '=', sessionId)
    .executeTakeFirstOrThrow(() => problem('signed_out'));
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
      passkeys: row.passkeys,
      recoveryCodesLeft: Number(codes.left),
    },
    company: {
      id: companyId,
      name: row.company_name,
      secondFactorRequired: row.require_factor === 1,
    },
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
    limits: { ...limits, ...companyLimitsNow(row, now()) },
    features: { ...portal.features, passkeyHost: portal.passkeys?.host ?? null },
    settings: { retentionDays: portal.retentionDays, retryForMs: portal.retryForMs },
    baseUrl: portal.baseUrl,
  };
};

const sessionsOfSignIn = ({ db, now, portal }: Access, signIn: Buffer) =>
  acrossTenants(db, 'one sign-in opens several companies')
    .selectFrom('portal_sessions as session')
    .innerJoin('portal_users as person', (join) =>
      join.onRef('person.company_id', '=', 'session.company_id').onRef('person.id', '=', 'session.user_id'),
    )
    .innerJoin('companies as company', 'company.company_id', 'session.company_id')
    .select([
      'session.company_id',
      'session.session_id',
      'session.state',
      'person.role',
      'company.name as company_name',
    ])
    .where('session.sign_in', '=', signIn)
    .where('session.created_utc', '>', new Date(now().getTime() - portal.sessionTimeoutMs))
    .orderBy('session.company_id')
    .execute();
