import { byMember, contract } from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit.ts';
import type { Access } from '../context.ts';
import { sessionFacts } from './facts.ts';

export const updateProfile = (access: Access) =>
  handler(contract.updateProfile, async (call) => {
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
        by: byMember(call),
        action: 'profile.changed',
        target: { kind: 'member', id: user.id, name: user.email },
        before: { name: user.name },
        after: { name: body.name },
        at: access.now(),
      });
    });
    return json(200, await sessionFacts(access, companyId, user.sessionId));
  });
