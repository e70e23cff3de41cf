import { problem } from '@causeway/proto';
import { each, type Handler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { findSession } from './find-session.ts';

/**
 * Lets calls of the portal through as the members whose sessions they show. A gateway says who asks, and is not
 * believed: here keys are made, and roles and passwords changed, so a gateway that somebody has taken over could
 * else let itself in for good, everywhere.
 */
export const byToken = (access: Access, handler: Handler): Handler =>
  each(async (call) => {
    const { tenant, caller, actor } = call;
    const session = actor?.token === undefined ? null : await findSession(access, actor.token);
    if (!actor || !session) throw problem('signed_out');
    const { companyId, user } = session;
    if (companyId !== tenant || user.id !== caller || user.sessionId !== actor.user?.sessionId) {
      const { operation, requestId } = call;
      access.log.error({ operation, requestId, tenant, caller, companyId }, "a call in another's name");
      throw problem('signed_out');
    }
    const { token: _, ...from } = actor;
    const [answer] = handler([{ ...call, actor: { ...from, user } }]);
    return answer!;
  });
