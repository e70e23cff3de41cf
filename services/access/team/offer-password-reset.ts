import { byMember, conflict, contract } from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import { makePasswordReset } from '../passwords/password-reset.ts';
import { lockMember } from './lock-member.ts';
import { requireRoleStill } from './require-role.ts';

export const offerPasswordReset = (access: Access) =>
  handler(contract.offerPasswordReset, async (call) => {
    const { companyId, user } = call;
    const memberId = call.id('member');
    if (memberId === user.id) throw conflict('change your own password under Your security');
    const { link, expires } = await transaction(access.db, async (trx) => {
      await requireRoleStill(trx, companyId, user.id, 'admin');
      const member = await lockMember(trx, { companyId, memberId, asker: user.role, to: 'same' });
      const made = await makePasswordReset(access, trx, { companyId, userId: memberId, madeBy: user.id });
      await writeAudit(trx, {
        companyId,
        by: byMember(call),
        action: 'password.reset_offered',
        target: { kind: 'member', id: memberId, name: member.email },
        at: access.now(),
      });
      return made;
    });
    return json(201, { link, expiresUtc: expires.toISOString() });
  });
