import { problem } from '@causeway/proto';
import { each, type LaneHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { findSession } from './find-session.ts';

/**
 * Authenticates portal calls by their session token. The gateway also says who calls, but that is not trusted: these
 * operations create keys and change roles and passwords, so a compromised gateway could otherwise grant itself
 * lasting access to every company.
 */
export const byToken = (access: Access, handler: LaneHandler): LaneHandler =>
  each(async (call) => {
    const { tenant, caller, actor } = call;
    const session = actor?.token === undefined ? null : await findSession(access, actor.token);
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
    const { token: _, ...from } = actor;
    const [answer] = handler([{ ...call, actor: { ...from, user } }]);
    return answer!;
  });
