import { contract } from '@causeway/proto';
import { auditSource, portalHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { endKey } from './end-key.ts';

export const revokeApiKey = (access: Access) =>
  portalHandler(contract.revokeApiKey, async (call) => {
    const { companyId } = call;
    await endKey(access, { companyId, id: call.id('key'), by: auditSource(call) });
    return { status: 204, body: null };
  });
