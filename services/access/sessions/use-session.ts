import type { Access } from '../context.ts';
import { type FoundSession, findSession } from './find-session.ts';

/** How exact the time of the last use is: it is not worth a write for each request. */
const useGrainMs = 60_000;

/**
 * Whose session a token is; null where it is nobody's.
 * @param passive whether the session's idle time goes on.
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
