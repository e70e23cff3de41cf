import { byMember, contract } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { endKey } from './end-key.ts';

export const revokeApiKey = (access: Access) =>
  handler(contract.revokeApiKey, async (call) => {
    const { companyId } = call;
    await endKey(access, { companyId, id: call.id('key'), by: byMember(call) });
    return { status: 204, body: null };
  });
