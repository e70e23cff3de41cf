import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { invitationAnswer, invitationColumns, memberAnswer, memberColumns } from './member.ts';

export const listTeam = ({ db, now }: Access) =>
  handler(contract.listTeam, async ({ companyId, user }) => {
    const [members, invitations] = await Promise.all([
      db
        .selectFrom('portal_users')
        .select(memberColumns)
        .where('company_id', '=', companyId)
        .orderBy('id')
        .execute(),
      db
        .selectFrom('portal_invitations')
        .select(invitationColumns)
        .where('company_id', '=', companyId)
        .orderBy('invitation_id', 'desc')
        .execute(),
    ]);
    return json(200, {
      members: members.map((row) => memberAnswer(row, user.id)),
      invitations: invitations.map((row) => invitationAnswer(row, now())),
    });
  });
