import { contract } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { requireGoodPassword } from '../passwords/password-policy.ts';
import { endPasswordReset } from '../passwords/password-reset.ts';
import { countChosenPassword } from './attempt.ts';
import { changeSecurity } from './change-security.ts';
import { confirmPassword } from './confirm-password.ts';
import { hashForAddress } from './memberships.ts';

export const changePassword = (access: Access) =>
  handler(contract.changePassword, async (call) => {
    const { companyId, user, body } = call;
    await confirmPassword(access, call, 'currentPassword', body.currentPassword);
    const company = await access.db
      .selectFrom('companies')
      .select('name')
      .where('company_id', '=', companyId)
      .executeTakeFirstOrThrow();
    requireGoodPassword('newPassword', body.newPassword, [company.name, user.email, user.name]);
    await countChosenPassword(access, companyId, user.email, call.actor.address);
    const password_hash = await hashForAddress(access, user.email, body.newPassword);
    await changeSecurity(access, call, 'password.changed', async (trx) => {
      await trx
        .updateTable('portal_users')
        .set({ password_hash })
        .where('company_id', '=', companyId)
        .where('id', '=', user.id)
        .execute();
      await endPasswordReset(trx, { companyId, userId: user.id });
    });
    return { status: 204, body: null };
  });
