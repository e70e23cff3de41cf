import { contract } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { changeSecurity } from './change-security.ts';
import { confirmFactor } from './confirm-factor.ts';
import { deleteRecoveryCodes } from './recovery-codes.ts';

export const disableTotp = (access: Access) =>
  handler(contract.disableTotp, async (call) => {
    const { companyId, user, body } = call;
    await confirmFactor(access, call, body);
    await changeSecurity(access, call, 'totp.disabled', async (trx) => {
      await trx
        .updateTable('portal_users')
        .set({ totp_enabled: 0, totp_secret: null, totp_step: 0 })
        .where('company_id', '=', companyId)
        .where('id', '=', user.id)
        .execute();
      await deleteRecoveryCodes(trx, { companyId, userId: user.id });
    });
    return { status: 204, body: null };
  });
