import { conflict, contract, sealSecret } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { confirmPassword } from './confirm-password.ts';
import { newTotpSecret, totpUri } from './totp.ts';

/** Creates a secret, which takes effect once a first code proves that an app has it. */
export const startTotp = (access: Access) =>
  handler(contract.startTotp, async (call) => {
    const { companyId, user, body } = call;
    const person = await confirmPassword(access, call, 'password', body.password);
    if (person.totp_enabled === 1) throw conflict('two-factor sign-in is on already; switch it off first');
    const secret = newTotpSecret(access.random);
    await access.db
      .updateTable('portal_users')
      .set({ totp_secret: sealSecret(access.portal.keyRing, companyId, secret), totp_step: 0 })
      .where('company_id', '=', companyId)
      .where('id', '=', user.id)
      .where('totp_enabled', '=', 0)
      .execute();
    return json(200, { secret, uri: totpUri('Causeway', user.email, secret) });
  });
