import { contract } from '@causeway/proto';
import { auditSource, json, portalHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { requireRoleStill } from '../team/require-role.ts';
import { makeKey } from './make-key.ts';
import { portalKey } from './portal-key.ts';

export const createApiKey = (access: Access) =>
  portalHandler(contract.createApiKey, async (call) => {
    const { companyId, body } = call;
    const { row, value } = await makeKey(access, {
      companyId,
      ...body,
      by: auditSource(call),
      check: (trx) => requireRoleStill(trx, companyId, call.user.id, 'developer'),
    });
    return json(201, { ...portalKey(row), value });
  });
