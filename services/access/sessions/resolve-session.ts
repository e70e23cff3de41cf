import { problem, type ResolvedSession, type ResolveSession } from '@causeway/proto';
import { each, json, type LaneHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { findSession } from './find-session.ts';

/** The precision of the last-use time: a write per request would cost too much. */
const useGrainMs = 60_000;

/** The gateway calls at once; operations take 15 s at most. */
const proofLifeMs = 60_000;

/**
 * Resolves a token to its session. Gateways call this for every portal request, so ending a session or changing a
 * role takes effect on the next request at every gateway.
 */
export const resolveSession = (access: Access): LaneHandler =>
  each(async ({ body }) => {
    const { db, now, portal, sessionProofs } = access;
    const { token, passive } = JSON.parse(Buffer.from(body).toString()) as ResolveSession;
    const at = now();
    const session = await findSession(access, token);
    if (!session) throw problem('signed_out');
    const { companyId, user, lastUsedUtc } = session;
    const grainMs = Math.min(useGrainMs, portal.idleTimeoutMs / 4);
    if (!passive && at.getTime() - lastUsedUtc.getTime() >= grainMs)
      await db
        .updateTable('portal_sessions')
        .set({ last_used_utc: at })
        .where('company_id', '=', companyId)
        .where('session_id', '=', user.sessionId)
        .where('last_used_utc', '<', at)
        .execute();
    const proof = sessionProofs.prove({ companyId, user, untilMs: at.getTime() + proofLifeMs });
    return json(200, { companyId, user, proof } satisfies ResolvedSession);
  });
