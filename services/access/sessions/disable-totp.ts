import { contract } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { changeSecurity } from './change-security.ts';
import { confirmFactor } from './confirm-factor.ts';
import { removeFactor } from './second-factor.ts';

export const disableTotp = (access: Access) =>
  handler(contract.disableTotp, async (call) => {
    const { companyId, user, body } = call;
    await confirmFactor(access, call, body);
    await changeSecurity(access, call, 'totp.disabled', (trx) =>
      removeFactor(trx, { companyId, userId: user.id }),
    );
    return { status: 204, body: null };
  });
