import { problem } from '@causeway/proto';
import { each, type LaneHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { useSession } from './use-session.ts';

/**
 * Authenticates portal calls by their session token. The gateway also says who calls, but that is not trusted: these
 * operations create keys and change roles and passwords, so a compromised gateway could otherwise grant itself
 * lasting access to every company.
 */
export const byToken = (access: Access, handler: LaneHandler): LaneHandler =>
  each(async (call) => {
    const { tenant, caller, actor } = call;
    // A gateway of the release before says nothing of it: it has asked whose session it is, which was a use.
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
    const { address, userAgent, device } = actor;
    const from = { user, address, userAgent, ...(device !== undefined && { device }) };
    const [answer] = handler([{ ...call, actor: from }]);
    return answer!;
  });
