import { conflict, contract, invalidField, notFound, problem, roleRequired } from '@causeway/proto';
import { acrossTenants, duplicateKey, handler, json, transaction } from '@causeway/runtime';
import { audit, authorOf, byPerson } from '../audit.ts';
import type { Access } from '../context.ts';
import { lockLinkMails, mailLink } from '../notices/links.ts';
import { requireGoodPassword } from '../passwords/password-policy.ts';
import { countChosenPassword } from '../sessions/attempts.ts';
import { hashForAddress, requireRoleStill } from '../sessions/person.ts';
import { startSession } from '../sessions/sign-in.ts';
import { hashToken, newToken } from '../sessions/token.ts';
import { endInvitations } from './member-keys.ts';
import { invitationAnswer } from './members.ts';

const validForMs = 7 * 86_400_000;
const maxTeam = 500;

/** The token is in the link's fragment, which browsers do not send. */
export const inviteMember = (access: Access) =>
  handler(contract.inviteMember, async (call) => {
    const { companyId, user, body, identity } = call;
    if (body.role === 'owner' && user.role !== 'owner') throw roleRequired('owner');
    const { once, now, random } = access;
    const token = newToken(random);
    const at = now();
    const row = {
      company_id: companyId,
      email: body.email,
      role: body.role,
      token_hash: hashToken(token),
      invited_by: user.id,
      invited_by_name: user.name || user.email,
      created_utc: at,
      expires_utc: new Date(at.getTime() + validForMs),
    };
    return once.carryOut(identity, async (trx) => {
      await lockLinkMails(trx, companyId);
      await requireRoleStill(trx, companyId, user.id, body.role === 'owner' ? 'owner' : 'admin');
      const member = await trx
        .selectFrom('portal_users')
        .select('id')
        .where('company_id', '=', companyId)
        .where('email', '=', body.email)
        .executeTakeFirst();
      if (member) throw invalidField('email', 'in_use', 'email is already a member');
      await trx
        .deleteFrom('portal_invitations')
        .where('company_id', '=', companyId)
        .where('email', '=', body.email)
        .execute();
      const { open } = await trx
        .selectFrom('portal_invitations')
        .select((eb) => eb.fn.countAll<number>().as('open'))
        .where('company_id', '=', companyId)
        .executeTakeFirstOrThrow();
      if (Number(open) >= maxTeam)
        throw invalidField('email', 'out_of_range', `at most ${maxTeam} invitations can be open`);
      const { insertId } = await trx.insertInto('portal_invitations').values(row).executeTakeFirstOrThrow();
      const target = ['invitation', Number(insertId), body.email] as const;
      await audit(trx, { ...authorOf(access, call), at }, 'member.invited', target, {
        after: { email: body.email, role: body.role },
      });
      const mailed = await mailLink(access, trx, {
        kind: 'invitation',
        token,
        companyId,
        to: body.email,
        at,
      });
      return json(201, {
        invitation: invitationAnswer({ ...row, invitation_id: Number(insertId) }, at),
        link: `/portal/invitation#${token}`,
        mailed,
      });
    });
  });

export const getInvitation = (access: Access) =>
  handler(contract.getInvitation, async ({ body }) => {
    const row = await findInvitation(access, body.token);
    return json(200, {
      email: row.email,
      role: row.role,
      companyName: row.company_name,
      invitedBy: row.invited_by_name,
      expiresUtc: row.expires_utc.toISOString(),
    });
  });

export const acceptInvitation = (access: Access) =>
  handler(contract.acceptInvitation, async ({ body, actor, requestId }) => {
    const { db, now } = access;
    const { company_id, invitation_id, email, role, company_name } = await findInvitation(access, body.token);
    const { name } = body;
    requireGoodPassword('password', body.password, [company_name, email, name]);
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
        .values({ company_id, email, name, password_hash, role, created_utc: at })
        .executeTakeFirstOrThrow();
      const id = Number(insertId);
      const author = { companyId: company_id, by: byPerson(id, name, actor, requestId), at };
      await audit(trx, author, 'member.joined', ['member', id, email], { after: { email, name, role } });
      return id;
    }).catch((error: unknown) => {
      if (duplicateKey(error) === 'portal_users_email')
        throw conflict('this address is already a member of the company; sign in instead');
      throw error;
    });
    const member = { companyId: company_id, userId, epoch: 0, by: 'invitation', name, email } as const;
    return startSession(access, 201, { ...member, actor, requestId });
  });

export const revokeInvitation = (access: Access) =>
  handler(contract.revokeInvitation, async (call) => {
    const id = call.id('invitation');
    await transaction(access.db, async (trx) => {
      const ended = await endInvitations(trx, authorOf(access, call), 'invitation_id', id);
      if (ended === 0) throw notFound('invitation');
    });
    return { status: 204, body: null };
  });

/** @throws Problem `invitation_over` if the invitation has ended or never existed */
const findInvitation = ({ db, now }: Pick<Access, 'db' | 'now'>, token: string) =>
  acrossTenants(db, 'an invitation is found by its token alone')
    .selectFrom('portal_invitations as invitation')
    .innerJoin('companies as company', 'company.company_id', 'invitation.company_id')
    .select([
      'invitation.company_id',
      'invitation.invitation_id',
      'invitation.email',
      'invitation.role',
      'invitation.invited_by_name',
      'invitation.expires_utc',
      'company.name as company_name',
    ])
    .where('invitation.token_hash', '=', hashToken(token))
    .where('invitation.expires_utc', '>', now())
    .where('company.closed_utc', 'is', null)
    .executeTakeFirstOrThrow(() => problem('invitation_over'));
