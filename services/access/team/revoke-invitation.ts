import { byMember, contract, notFound } from '@causeway/proto';
import { handler, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';

export const revokeInvitation = ({ db, now }: Access) =>
  handler(contract.revokeInvitation, async (call) => {
    const { companyId } = call;
    const id = call.id('invitation');
    await transaction(db, async (trx) => {
      const row = await trx
        .selectFrom('portal_invitations')
        .select(['email', 'role'])
        .where('company_id', '=', companyId)
        .where('invitation_id', '=', id)
        .forUpdate()
        .executeTakeFirst();
      if (!row) throw notFound('invitation');
      await trx
        .deleteFrom('portal_invitations')
        .where('company_id', '=', companyId)
        .where('invitation_id', '=', id)
        .execute();
      await writeAudit(trx, {
        companyId,
        by: byMember(call),
        action: 'invitation.revoked',
        target: { kind: 'invitation', id, name: row.email },
        before: row,
        at: now(),
      });
    });
    return { status: 204, body: null };
  });
