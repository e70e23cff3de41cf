import { portalContract } from '@causeway/proto';
import { auditSource, json, portalHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { endKey } from './end-key.ts';
import { portalKey } from './portal-key.ts';

export const revokeApiKey = (access: Access) =>
  portalHandler(portalContract.revokeApiKey, async (call) => {
    const { companyId } = call;
    const row = await endKey(access, { companyId, id: call.id('key'), by: auditSource(call) });
    return json(200, portalKey(row));
  });
