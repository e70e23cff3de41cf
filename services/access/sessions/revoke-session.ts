import { contract, notFound, sessionTokenHeader } from '@causeway/proto';
import { handler, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import { endSessions } from './end.ts';
import { endedEntry } from './sign-out.ts';

/** Members may revoke only their own sessions; another member's is not found. */
export const revokeSession = (access: Access) =>
  handler(contract.revokeSession, async (call) => {
    const { companyId, user } = call;
    const sessionId = call.id('session');
    await transaction(access.db, async (trx) => {
      const ended = await endSessions(access, trx, { companyId, userId: user.id, only: sessionId });
      if (ended === 0) throw notFound('session');
      await writeAudit(trx, endedEntry(access, call, sessionId));
    });
    const own = sessionId === user.sessionId;
    return { status: 204, body: null, ...(own && { headers: { [sessionTokenHeader]: '' } }) };
  });
