import { byMember, contract, sessionTokenHeader } from '@causeway/proto';
import { handler, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import { endSessions } from './end.ts';

export const signOut = (access: Access) =>
  handler(contract.signOut, async (call) => {
    const { companyId, user } = call;
    await transaction(access.db, async (trx) => {
      const ended = await endSessions(access, trx, { companyId, userId: user.id, only: user.sessionId });
      if (ended > 0) await writeAudit(trx, endedEntry(access, call, user.sessionId));
    });
    return { status: 204, body: null, headers: { [sessionTokenHeader]: '' } };
  });

/** The audit entry of a session that its owner has ended. */
export const endedEntry = (
  { now }: Pick<Access, 'now'>,
  call: Parameters<typeof byMember>[0] & { readonly companyId: number },
  sessionId: number,
) => {
  const by = byMember(call);
  return {
    companyId: call.companyId,
    by,
    action: 'session.ended',
    target: { kind: 'session', id: sessionId, name: by.name },
    at: now(),
  } as const;
};
