import { conflict, portalContract } from '@causeway/proto';
import { json, portalHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { changeSecurity } from './change-security.ts';
import { confirmPassword } from './confirm-password.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';

export const regenerateRecoveryCodes = (access: Access) =>
  portalHandler(portalContract.regenerateRecoveryCodes, async (call) => {
    const { companyId, user, body } = call;
    const person = await confirmPassword(access, call, 'password', body.password);
    if (person.totp_enabled === 0) throw conflict('two-factor sign-in is off');
    const recoveryCodes = await changeSecurity(access, call, 'recovery_codes.renewed', (trx) =>
      replaceRecoveryCodes(trx, { companyId, userId: user.id }, access.random),
    );
    return json(200, { recoveryCodes });
  });
