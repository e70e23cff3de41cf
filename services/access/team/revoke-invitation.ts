import { contract, notFound } from '@causeway/proto';
import { auditSource, portalHandler, transaction, writeAudit } from '@causeway/runtime';
import type { Access } from '../context.ts';

export const revokeInvitation = ({ db, now }: Access) =>
  portalHandler(contract.revokeInvitation, async (call) => {
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
        by: auditSource(call),
        action: 'invitation.revoked',
        target: { kind: 'invitation', id, name: row.email },
        before: row,
        at: now(),
      });
    });
    return { status: 204, body: null };
  });
