import { byMember, contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { requireRoleStill } from '../team/require-role.ts';
import { makeKey } from './make-key.ts';
import { portalKey } from './portal-key.ts';

export const createApiKey = (access: Access) =>
  handler(contract.createApiKey, async (call) => {
    const { companyId, body } = call;
    const { row, value } = await makeKey(access, {
      companyId,
      ...body,
      by: byMember(call),
      check: (trx) => requireRoleStill(trx, companyId, call.user.id, 'developer'),
    });
    return json(201, { ...portalKey(row), value });
  });
