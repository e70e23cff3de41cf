import { contract } from '@causeway/proto';
import { auditSource, json, portalHandler, transaction, writeAudit } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { sessionFacts } from './facts.ts';

export const updateProfile = (access: Access) =>
  portalHandler(contract.updateProfile, async (call) => {
    const { companyId, user, body } = call;
    await transaction(access.db, async (trx) => {
      await trx
        .updateTable('portal_users')
        .set({ name: body.name })
        .where('company_id', '=', companyId)
        .where('id', '=', user.id)
        .execute();
      if (body.name === user.name) return;
      await writeAudit(trx, {
        companyId,
        by: auditSource(call),
        action: 'profile.changed',
        target: { kind: 'member', id: user.id, name: user.email },
        before: { name: user.name },
        after: { name: body.name },
        at: access.now(),
      });
    });
    return json(200, await sessionFacts(access, companyId, user.sessionId));
  });
