import { conflict, contract, problem } from '@causeway/proto';
import { duplicateKey, handler, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import { requireGoodPassword } from '../passwords/password-policy.ts';
import { countChosenPassword } from '../sessions/attempt.ts';
import { hashForAddress } from '../sessions/memberships.ts';
import { startSession } from '../sessions/start.ts';
import { findInvitation } from './invitation.ts';

/** Creates the member, uses the invitation up, and signs in. */
export const acceptInvitation = (access: Access) =>
  handler(contract.acceptInvitation, async ({ body, actor, requestId }) => {
    const { db, now } = access;
    const { company_id, invitation_id, email, role, company_name } = await findInvitation(access, body.token);
    requireGoodPassword('password', body.password, [company_name, email, body.name]);
    await countChosenPassword(access, company_id, email, actor.address);
    const password_hash = await hashForAddress(access, email, body.password);
    const at = now();
    const userId = await transaction(db, async (trx) => {
      // If two requests accept at once, only one finds it.
      const { numDeletedRows } = await trx
        .deleteFrom('portal_invitations')
        .where('company_id', '=', company_id)
        .where('invitation_id', '=', invitation_id)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw problem('invitation_over');
      const { insertId } = await trx
        .insertInto('portal_users')
        .values({ company_id, email, name: body.name, password_hash, role, created_utc: at })
        .executeTakeFirstOrThrow();
      const { address, userAgent } = actor;
      await writeAudit(trx, {
        companyId: company_id,
        by: { kind: 'user', id: Number(insertId), name: body.name, address, userAgent, requestId },
        action: 'member.joined',
        target: { kind: 'member', id: Number(insertId), name: email },
        after: { email, name: body.name, role },
        at,
      });
      return Number(insertId);
    }).catch((error: unknown) => {
      if (duplicateKey(error) === 'portal_users_email')
        throw conflict('this address is already a member of the company; sign in instead');
      throw error;
    });
    const { name } = body;
    return startSession(access, 201, {
      companyId: company_id,
      userId,
      epoch: 0,
      name,
      email,
      actor,
      requestId,
    });
  });
