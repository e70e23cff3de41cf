import { contract, problem } from '@causeway/proto';
import { handler, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import { requireGoodPassword } from '../passwords/password-policy.ts';
import { findPasswordReset } from '../passwords/password-reset.ts';
import { countChosenPassword } from './attempt.ts';
import { endSessions } from './end.ts';
import { hashForAddress } from './memberships.ts';
import { withDevice } from './start.ts';

/**
 * Changes the password, uses the link up and ends every session. It signs nobody in and leaves the second factor on,
 * so a stolen link does not open an account that has one.
 */
export const resetPassword = (access: Access) =>
  handler(contract.resetPassword, async ({ body, actor, requestId }) => {
    const { db, now } = access;
    const row = await findPasswordReset(access, body.token);
    const { company_id, user_id, email, name, company_name } = row;
    requireGoodPassword('password', body.password, [company_name, email, name]);
    await countChosenPassword(access, company_id, email, actor.address);
    const password_hash = await hashForAddress(access, email, body.password);
    await transaction(db, async (trx) => {
      // If two requests use the link at once, or it was replaced meanwhile, only one succeeds.
      const { numDeletedRows } = await trx
        .deleteFrom('portal_password_resets')
        .where('company_id', '=', company_id)
        .where('token_hash', '=', row.token_hash)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw problem('reset_over');
      await trx
        .updateTable('portal_users')
        .set({ password_hash })
        .where('company_id', '=', company_id)
        .where('id', '=', user_id)
        .execute();
      await endSessions(access, trx, { companyId: company_id, userId: user_id });
      const { address, userAgent } = actor;
      await writeAudit(trx, {
        companyId: company_id,
        by: { kind: 'user', id: user_id, name: name || email, address, userAgent, requestId },
        action: 'password.reset',
        target: { kind: 'member', id: user_id, name: email },
        at: now(),
      });
    });
    // The browser becomes a known device, so earlier guesses do not delay the sign-in that follows.
    return withDevice(access, { status: 204, body: null }, actor, email, [
      { companyId: company_id, userId: user_id, epoch: row.device_epoch },
    ]);
  });
