import type { Access } from '../context.ts';
import { type FoundSession, findSession } from './find-session.ts';

/** The precision of the last-use time: a write per request would cost too much. */
const useGrainMs = 60_000;

/**
 * The session of a token, or null; records the use.
 * @param passive whether the request leaves the idle time running.
 */
export const useSession = async (
  access: Access,
  token: string,
  passive: boolean,
): Promise<FoundSession | null> => {
  const { db, now, portal } = access;
  const session = await findSession(access, token);
  if (!session || passive) return session;
  const { companyId, user, lastUsedUtc } = session;
  const at = now();
  const grainMs = Math.min(useGrainMs, portal.idleTimeoutMs / 4);
  if (at.getTime() - lastUsedUtc.getTime() >= grainMs)
    await db
      .updateTable('portal_sessions')
      .set({ last_used_utc: at })
      .where('company_id', '=', companyId)
      .where('session_id', '=', user.sessionId)
      .where('last_used_utc', '<', at)
      .execute();
  return session;
};
