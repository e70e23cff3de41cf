import { problem } from '@causeway/proto';
import { acrossTenants } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { hashToken } from '../sessions/token.ts';

/** An open invitation. @throws Problem `invitation_over` if it has ended or never existed */
export const findInvitation = async ({ db, now }: Pick<Access, 'db' | 'now'>, token: string) => {
  const row = await acrossTenants(db, 'an invitation is found by its token alone')
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
    .executeTakeFirst();
  if (!row) throw problem('invitation_over');
  return row;
};
