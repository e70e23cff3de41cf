import { byMember, contract, invalidField, roleRequired } from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import { hashToken, newToken } from '../sessions/token.ts';
import { invitationAnswer } from './member.ts';
import { requireRoleStill } from './require-role.ts';

const validForMs = 7 * 86_400_000;
/** The most open invitations of a company. */
const maxTeam = 500;

/** The token is in the link's fragment, which browsers do not send. */
export const inviteMember = (access: Access) =>
  handler(contract.inviteMember, async (call) => {
    const { companyId, user, body } = call;
    if (body.role === 'owner' && user.role !== 'owner') throw roleRequired('owner');
    const { db, now, random } = access;
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
    const invitationId = await transaction(db, async (trx) => {
      await requireRoleStill(trx, companyId, user.id, body.role === 'owner' ? 'owner' : 'admin');
      const member = await trx
        .selectFrom('portal_users')
        .select('id')
        .where('company_id', '=', companyId)
        .where('email', '=', body.email)
        .executeTakeFirst();
      if (member) throw invalidField('email', 'email is already a member');
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
      if (Number(open) >= maxTeam) throw invalidField('email', `at most ${maxTeam} invitations can be open`);
      const { insertId } = await trx.insertInto('portal_invitations').values(row).executeTakeFirstOrThrow();
      await writeAudit(trx, {
        companyId,
        by: byMember(call),
        action: 'member.invited',
        target: { kind: 'invitation', id: Number(insertId), name: body.email },
        after: { email: body.email, role: body.role },
        at,
      });
      return Number(insertId);
    });
    return json(201, {
      invitation: invitationAnswer({ ...row, invitation_id: invitationId }, at),
      link: `/portal/invitation#${token}`,
    });
  });
