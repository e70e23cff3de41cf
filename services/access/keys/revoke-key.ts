import { byOperator } from '../audit/operator.ts';
import type { Access } from '../context.ts';
import { operatorHandler } from '../operator-handler.ts';
import { endKey } from './end-key.ts';
import { companyOfKey } from './find-key.ts';
import { keyAnswer } from './key.ts';

export const revokeKey = (access: Access) =>
  operatorHandler(access, 'revokeKey', async ({ id }, { requestId }) => {
    const companyId = await companyOfKey(access, id);
    return keyAnswer(await endKey(access, { companyId, id, by: byOperator(requestId) }));
  });
