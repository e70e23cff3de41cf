import { type AnswerTo, byOperator, contract, invalidField } from '@causeway/proto';
import { duplicateKey, handler, json, transaction } from '@causeway/runtime';
import { audit } from '../audit.ts';
import { requireCompany } from '../companies.ts';
import type { Access } from '../context.ts';
import { requireGoodPassword } from '../passwords/password-policy.ts';
import { makePasswordReset } from '../sessions/password.ts';
import { hashForAddress, selectMember } from '../sessions/person.ts';
import { removeFully, takeFactorOff } from './members.ts';

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
        const memberId = Number(insertId);
        const author = { companyId: company_id, by: byOperator(requestId), at: owner.created_utc };
        await audit(trx, author, 'member.joined', ['member', memberId, email], {
          after: { email, name: owner.name, role: 'owner' },
        });
        return memberId;
      });
      return json<AnswerTo<'createPortalOwner'>>(201, { id, company_id, email });
    } catch (error) {
      if (duplicateKey(error) === 'portal_users_email')
        throw invalidField('email', 'in_use', 'email is already a member of this company');
      throw error;
    }
  });

const nameIn = (email: string): string => email.slice(0, email.lastIndexOf('@')).slice(0, 100);

export const removePortalMember = (access: Access) =>
  handler(contract.removePortalMember, async ({ body, requestId }) => {
    const { company_id, email, keep_keys, keep_subscriptions, keep_channels } = body;
    await requireCompany(access, company_id);
    const person = await access.db
      .selectFrom('portal_users')
      .select(['id', 'email'])
      .where('company_id', '=', company_id)
      .where('email', '=', email)
      .executeTakeFirst();
    if (!person) throw invalidField('email', 'not_found', 'email is not a member of this company');
    const author = { companyId: company_id, by: byOperator(requestId), at: access.now() };
    const revoked = await removeFully(access, author, {
      ...{ memberId: person.id, asker: 'owner', keepKeys: keep_keys },
      ...{ keepSubscriptions: keep_subscriptions, keepChannels: keep_channels },
    });
    return json<AnswerTo<'removePortalMember'>>(200, {
      ...{ id: person.id, company_id, email: person.email },
      revoked_keys: [...revoked],
    });
  });

/** For owners only: for other members, somebody in the company can create the link. */
export const resetPortalOwner = (access: Access) =>
  handler(contract.resetPortalOwner, async ({ body, requestId }) => {
    const { company_id, email, two_factor } = body;
    const { db, now } = access;
    await requireCompany(access, company_id);
    const person = await db
      .selectFrom('portal_users')
      .select(['id', 'email', 'role', 'passkeys'])
      .where('company_id', '=', company_id)
      .where('email', '=', email)
      .executeTakeFirst();
    if (person?.role !== 'owner')
      throw invalidField(
        'email',
        'not_found',
        'email is not an owner of this company; other members ask an owner or admin of the company',
      );
    const { id } = person;
    const { link, expires } = await transaction(db, async (trx) => {
      // Two links made at once would otherwise both be inserted.
      await selectMember(trx, company_id, id).select('id').forUpdate().execute();
      const author = { companyId: company_id, by: byOperator(requestId), at: now() };
      if (two_factor) await takeFactorOff(trx, author, person);
      const made = await makePasswordReset(access, trx, { companyId: company_id, userId: id });
      await audit(trx, author, 'password.reset_offered', ['member', id, person.email]);
      return made;
    });
    return json<AnswerTo<'resetPortalOwner'>>(200, {
      id,
      company_id,
      email: person.email,
      two_factor_reset: two_factor,
      link,
      expires_utc: expires.toISOString(),
    });
  });
