import { byMember, contract } from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import { endSessions } from './end.ts';

export const revokeOtherSessions = (access: Access) =>
  handler(contract.revokeOtherSessions, async (call) => {
    const { companyId, user } = call;
    const revoked = await transaction(access.db, async (trx) => {
      const ended = await endSessions(access, trx, { companyId, userId: user.id, except: user.sessionId });
      if (ended === 0) return 0;
      await writeAudit(trx, {
        companyId,
        by: byMember(call),
        action: 'session.ended',
        target: { kind: 'session', id: null, name: 'all others' },
        after: { count: ended },
        at: access.now(),
      });
      return ended;
    });
    return json(200, { revoked });
  });
