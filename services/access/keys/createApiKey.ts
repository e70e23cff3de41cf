import { portalContract } from '@causeway/proto';
import { auditSource, json, portalHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { makeKey } from './make-key.ts';
import { portalKey } from './portal-key.ts';

export const createApiKey = (access: Access) =>
  portalHandler(portalContract.createApiKey, async (call) => {
    const { companyId, body } = call;
    const { row, value } = await makeKey(access, { companyId, ...body, by: auditSource(call) });
    return json(201, { ...portalKey(row), value });
  });
