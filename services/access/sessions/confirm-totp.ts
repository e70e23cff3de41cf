import { conflict, contract, invalidField } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { atSession, attempt } from './attempt.ts';
import { changeSecurity } from './change-security.ts';
import { readPerson } from './person.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';
import { takeTotp } from './second-factor.ts';

export const confirmTotp = (access: Access) =>
  handler(contract.confirmTotp, async (call) => {
    const { companyId, user, body } = call;
    const person = await readPerson(access.db, companyId, user);
    if (person.totp_enabled === 1) throw conflict('two-factor sign-in is on already');
    if (person.totp_secret === null) throw conflict('ask for a new secret first');
    await attempt(
      access,
      atSession(access, companyId, user, 'factor'),
      call.deadlineMs,
      async ({ succeeded }) => {
        if (!(await takeTotp(access, person, body.code))) throw invalidField('code', 'the code is wrong');
        await succeeded([]);
      },
    );
    const recoveryCodes = await changeSecurity(access, call, 'totp.enabled', async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable('portal_users')
        .set({ totp_enabled: 1 })
        .where('company_id', '=', companyId)
        .where('id', '=', user.id)
        // Unless the secret was replaced or removed meanwhile.
        .where('totp_secret', '=', person.totp_secret)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw conflict('ask for a new secret first');
      return replaceRecoveryCodes(trx, { companyId, userId: user.id }, access.random);
    });
    return json(200, { recoveryCodes });
  });
