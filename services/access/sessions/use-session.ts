import { type MemberOperation, problem, type ResolvedSession, type ResolveSession } from '@causeway/proto';
import { acrossTenants, clockSlackMs, each, json, type LaneHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { updateSession } from '../rows.ts';
import { hasFactor } from './factors.ts';
import { hashToken, isSessionToken } from './token.ts';

/** The gateway calls at once; operations take 15 s at most. */
const proofLifeMs = 60_000;

/** Gateways ask for every request, so the end of a session or a new role takes effect on the next request. */
export const resolveSession = (access: Access): LaneHandler =>
  each(async ({ body }) => {
    const { token, passive } = JSON.parse(Buffer.from(body).toString()) as ResolveSession;
    const session = await useSession(access, token, passive);
    if (!session) throw problem('signed_out');
    const { companyId, user, factorMissing } = session;
    // Without a proof, no other service serves the member.
    if (factorMissing) return json<ResolvedSession>(200, { companyId, user, proof: '', factorMissing });
    const untilMs = access.now().getTime() + proofLifeMs;
    const proof = access.sessionProofs.prove({ companyId, user, untilMs });
    return json<ResolvedSession>(200, { companyId, user, proof });
  });

/**
 * Authenticates portal calls by their session token. The gateway also says who calls, but that is not trusted: these
 * operations create keys and change roles and passwords, so a compromised gateway could otherwise grant itself
 * lasting access to every company.
 */
export const byToken = (
  access: Access,
  { beforeFactor = false, freshProof = false }: Pick<MemberOperation, 'beforeFactor' | 'freshProof'>,
  handler: LaneHandler,
): LaneHandler =>
  each(async (call) => {
    const { tenant, caller, actor } = call;
    const session = actor?.token ? await useSession(access, actor.token, actor.passive !== false) : null;
    if (!actor || !session) throw problem('signed_out');
    const { companyId, user } = session;
    if (companyId !== tenant || user.id !== caller || user.sessionId !== actor.user?.sessionId) {
      const { operation, requestId } = call;
      access.log.error(
        { operation, requestId, tenant, caller, companyId },
        'portal call with a session of another member',
      );
      throw problem('signed_out');
    }
    if (session.factorMissing && !beforeFactor) throw problem('second_factor_required');
    const provedMs = access.now().getTime() - session.provedUtc.getTime();
    // A later one is of a clock that went back since.
    const isFresh = provedMs <= access.portal.proofTimeoutMs && provedMs >= -clockSlackMs;
    if (freshProof && !isFresh) throw problem('proof_required');
    const { address, userAgent, device } = actor;
    const from = { user, address, userAgent, ...(device !== undefined && { device }) };
    const [answer] = handler([{ ...call, actor: from }]);
    return answer!;
  });

/** The precision of the last-use time: a write per request would cost too much. */
const useGrainMs = 60_000;

/** Records the use, unless it is `passive`, which leaves the idle time running. */
const useSession = async (access: Access, token: string, passive: boolean): Promise<FoundSession | null> => {
  const { db, now, portal } = access;
  const session = await findSession(access, token);
  if (!session || passive) return session;
  const { companyId, user, lastUsedUtc } = session;
  const at = now();
  const grainMs = Math.min(useGrainMs, portal.idleTimeoutMs / 4);
  if (at.getTime() - lastUsedUtc.getTime() >= grainMs)
    await updateSession(db, companyId, user.sessionId)
      .set({ last_used_utc: at })
      .where('last_used_utc', '<', at)
      .execute();
  return session;
};

interface FoundSession extends Omit<ResolvedSession, 'proof'> {
  readonly lastUsedUtc: Date;
  readonly provedUtc: Date;
  readonly factorMissing: boolean;
}

const findSession = async (
  { db, now, portal, sessionTokens }: Access,
  token: string,
): Promise<FoundSession | null> => {
  // Made-up tokens cost no query; otherwise strangers could use up the database connections.
  if (!isSessionToken(token, sessionTokens)) return null;
  const nowMs = now().getTime();
  const row = await acrossTenants(db, 'a session is found by its token alone')
    .selectFrom('portal_sessions as session')
    .innerJoin('portal_users as person', (join) =>
      join.onRef('person.company_id', '=', 'session.company_id').onRef('person.id', '=', 'session.user_id'),
    )
    .innerJoin('companies as company', 'company.company_id', 'session.company_id')
    .select([
      'session.created_utc',
      'session.proved_utc',
      'company.require_factor',
      'person.totp_enabled',
      'person.passkeys',
      'session.company_id',
      'session.session_id',
      'session.last_used_utc',
      'person.id',
      'person.email',
      'person.name',
      'person.role',
    ])
    .where('session.token_hash', '=', hashToken(token))
    .where('session.state', '=', 'open')
    .where('company.closed_utc', 'is', null)
    .where('session.created_utc', '>', new Date(nowMs - portal.sessionTimeoutMs))
    .where('session.last_used_utc', '>', new Date(nowMs - portal.idleTimeoutMs))
    .executeTakeFirst();
  if (!row) return null;
  const { id, email, name, role } = row;
  return {
    companyId: row.company_id,
    user: { id, sessionId: row.session_id, email, name, role },
    lastUsedUtc: row.last_used_utc,
    provedUtc: row.proved_utc ?? row.created_utc,
    factorMissing: row.require_factor === 1 && !hasFactor(row),
  };
};
