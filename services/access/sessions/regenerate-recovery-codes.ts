import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { changeSecurity } from './change-security.ts';
import { confirmFactor } from './confirm-factor.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';

export const regenerateRecoveryCodes = (access: Access) =>
  handler(contract.regenerateRecoveryCodes, async (call) => {
    const { companyId, user, body } = call;
    await confirmFactor(access, call, body);
    const recoveryCodes = await changeSecurity(access, call, 'recovery_codes.renewed', (trx) =>
      replaceRecoveryCodes(trx, { companyId, userId: user.id }, access.random),
    );
    return json(200, { recoveryCodes });
  });
