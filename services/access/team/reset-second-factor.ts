import { type AuditSource, byMember, conflict, contract } from '@causeway/proto';
import { handler, type Trx, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import { endPasswordReset } from '../passwords/password-reset.ts';
import type { AccessTables } from '../schema.ts';
import { endSessions } from '../sessions/end.ts';
import { removeFactor } from '../sessions/second-factor.ts';
import type { Membership } from '../sessions/subjects.ts';
import { lockMember } from './lock-member.ts';
import { requireRoleStill } from './require-role.ts';

/**
 * Turns off the second factor of a member who lost the app and the recovery codes. Only owners may: admins can create
 * password reset links, and with both they could sign in as a colleague.
 */
export const resetSecondFactor = (access: Access) =>
  handler(contract.resetSecondFactor, async (call) => {
    const { companyId, user } = call;
    const memberId = call.id('member');
    if (memberId === user.id) throw conflict('turn off your own second factor under Your security');
    await transaction(access.db, async (trx) => {
      await requireRoleStill(trx, companyId, user.id, 'owner');
      const member = await lockMember(trx, { companyId, memberId, asker: user.role, to: 'same' });
      if (member.totp_enabled === 0) throw conflict('two-factor sign-in is off');
      await takeFactorOff(access, trx, {
        companyId,
        userId: memberId,
        email: member.email,
        by: byMember(call),
      });
    });
    return { status: 204, body: null };
  });

/**
 * Turns off the second factor of a locked member. Their sessions end, and with them the known devices and an open
 * password reset link: until now, none of these was enough without a code.
 */
export const takeFactorOff = async (
  access: Access,
  trx: Trx<AccessTables>,
  { companyId, userId, email, by }: Membership & { readonly email: string; readonly by: AuditSource },
): Promise<void> => {
  await removeFactor(trx, { companyId, userId });
  await trx
    .updateTable('portal_users')
    .set((eb) => ({ device_epoch: eb('device_epoch', '+', 1) }))
    .where('company_id', '=', companyId)
    .where('id', '=', userId)
    .execute();
  await endPasswordReset(trx, { companyId, userId });
  await endSessions(access, trx, { companyId, userId });
  await writeAudit(trx, {
    companyId,
    by,
    action: 'totp.reset',
    target: { kind: 'member', id: userId, name: email },
    at: access.now(),
  });
};
