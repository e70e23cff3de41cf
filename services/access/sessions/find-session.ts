import type { ResolvedSession } from '@causeway/proto';
import { acrossTenants } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { hashToken, isSessionToken } from './token.ts';

export type FoundSession = Omit<ResolvedSession, 'proof'> & { readonly lastUsedUtc: Date };

/** The session of a token, and when it was last used; null if there is none or it has ended. */
export const findSession = async (
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
    .select([
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
    .where('session.created_utc', '>', new Date(nowMs - portal.sessionTimeoutMs))
    .where('session.last_used_utc', '>', new Date(nowMs - portal.idleTimeoutMs))
    .executeTakeFirst();
  if (!row) return null;
  const { id, email, name, role } = row;
  return {
    companyId: row.company_id,
    user: { id, sessionId: row.session_id, email, name, role },
    lastUsedUtc: row.last_used_utc,
  };
};
