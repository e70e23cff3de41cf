import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';

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
