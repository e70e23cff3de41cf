import { byMember, contract } from '@causeway/proto';
import { handler, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import { endSessions } from '../sessions/end.ts';
import { announceRevoked, endRights } from './end-rights.ts';
import { lockMember } from './lock-member.ts';

/** Deletes the row, so that the address can join again, here or elsewhere; the audit log keeps the name. */
export const removeMember = (access: Access) =>
  handler(contract.removeMember, async (call) => {
    const { companyId, user } = call;
    const memberId = call.id('member');
    const by = byMember(call);
    const { revokedKeys } = await transaction(access.db, async (trx) => {
      const { email, name, role } = await lockMember(trx, {
        companyId,
        memberId,
        asker: user.role,
        to: null,
      });
      const { keepKeys } = call.query;
      const ended = await endRights(access, trx, { companyId, memberId, keepKeys, by });
      await endSessions(access, trx, { companyId, userId: memberId });
      await trx
        .deleteFrom('portal_users')
        .where('company_id', '=', companyId)
        .where('id', '=', memberId)
        .execute();
      await writeAudit(trx, {
        companyId,
        by,
        action: 'member.removed',
        target: { kind: 'member', id: memberId, name: email },
        before: { email, name, role },
        at: access.now(),
      });
      return ended;
    });
    await announceRevoked(access, { companyId, by }, revokedKeys);
    return { status: 204, body: null };
  });
