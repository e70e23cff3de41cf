import { type AnswerTo, contract, invalidField } from '@causeway/proto';
import { duplicateKey, handler, json, transaction } from '@causeway/runtime';
import { byOperator, writeAudit } from '../audit.ts';
import { requireCompany } from '../companies.ts';
import type { Access } from '../context.ts';
import { requireGoodPassword } from '../passwords/password-policy.ts';
import { hashForAddress } from '../sessions/memberships.ts';

export const createPortalOwner = (access: Access) =>
  handler(contract.createPortalOwner, async ({ body, requestId }) => {
    const { company_id, email, password } = body;
    const { db, now } = access;
    await requireCompany(access, company_id);
    requireGoodPassword('password', password, [email]);
    const owner = {
      company_id,
      email,
      // Until the owner enters their name.
      name: nameIn(email),
      password_hash: await hashForAddress(access, email, password),
      role: 'owner',
      created_utc: now(),
    } as const;
    try {
      const id = await transaction(db, async (trx) => {
        const { insertId } = await trx.insertInto('portal_users').values(owner).executeTakeFirstOrThrow();
        await writeAudit(trx, {
          companyId: company_id,
          by: byOperator(requestId),
          action: 'member.joined',
          target: { kind: 'member', id: Number(insertId), name: email },
          after: { email, name: owner.name, role: 'owner' },
          at: owner.created_utc,
        });
        return Number(insertId);
      });
      return json<AnswerTo<'createPortalOwner'>>(201, { id, company_id, email });
    } catch (error) {
      if (duplicateKey(error) === 'portal_users_email')
        throw invalidField('email', 'email is already a member of this company');
      throw error;
    }
  });

/** The part before the `@`, as a first guess at a name. */
const nameIn = (email: string): string => email.slice(0, email.lastIndexOf('@')).slice(0, 100);
