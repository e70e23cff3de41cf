import { byMember, contract, roleAllows } from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import { endPasswordReset } from '../passwords/password-reset.ts';
import { announceRevoked, endRights } from './end-rights.ts';
import { lockMember } from './lock-member.ts';
import { memberAnswer } from './member.ts';

export const changeRole = (access: Access) =>
  handler(contract.changeRole, async (call) => {
    const { db, now } = access;
    const { companyId, user, body } = call;
    const by = byMember(call);
    const memberId = call.id('member');
    const { member, revokedKeys } = await transaction(db, async (trx) => {
      const before = await lockMember(trx, { companyId, memberId, asker: user.role, to: body.role });
      if (before.role === body.role) return { member: before, revokedKeys: [] };
      const demoted = !roleAllows(body.role, before.role);
      const { keepKeys } = body;
      const ended = demoted
        ? await endRights(access, trx, { companyId, memberId, keepKeys, by })
        : { revokedKeys: [] };
      await trx
        .updateTable('portal_users')
        .set({ role: body.role })
        .where('company_id', '=', companyId)
        .where('id', '=', memberId)
        .execute();
      // Reset links depend on the member's role: who could create one before may not do so now.
      await endPasswordReset(trx, { companyId, userId: memberId });
      await writeAudit(trx, {
        companyId,
        by,
        action: 'member.role_changed',
        target: { kind: 'member', id: memberId, name: before.email },
        before: { role: before.role },
        after: { role: body.role },
        at: now(),
      });
      return { member: { ...before, role: body.role }, ...ended };
    });
    await announceRevoked(access, { companyId, by }, revokedKeys);
    return json(200, memberAnswer(member, user.id));
  });
