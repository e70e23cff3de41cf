import { problem, type ResolvedSession, type ResolveSession } from '@causeway/proto';
import { acrossTenants, each, type Handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { hashToken } from './token.ts';

/** How exact the time of the last use is: it is not worth a write for each request. */
const useGrainMs = 60_000;

/**
 * Who a token belongs to, as the gateways ask for every request of the portal: whatever ends a session, or
 * changes a role, holds from the next request on, on every gateway.
 */
export const resolveSession = ({ db, now, portal }: Access): Handler =>
  each(async ({ body }) => {
    const { token, passive } = JSON.parse(Buffer.from(body).toString()) as ResolveSession;
    const at = now();
    const row = await acrossTenants(db, 'a session is known by its token alone')
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
      .where('session.created_utc', '>', new Date(at.getTime() - portal.sessionTimeoutMs))
      .where('session.last_used_utc', '>', new Date(at.getTime() - portal.idleTimeoutMs))
      .executeTakeFirst();
    if (!row) throw problem('signed_out');
    const grainMs = Math.min(useGrainMs, portal.idleTimeoutMs / 4);
    if (!passive && at.getTime() - row.last_used_utc.getTime() >= grainMs)
      await db
        .updateTable('portal_sessions')
        .set({ last_used_utc: at })
        .where('company_id', '=', row.company_id)
        .where('session_id', '=', row.session_id)
        .where('last_used_utc', '<', at)
        .execute();
    const { id, email, name, role } = row;
    return json(200, {
      companyId: row.company_id,
      user: { id, sessionId: row.session_id, email, name, role },
    } satisfies ResolvedSession);
  });
