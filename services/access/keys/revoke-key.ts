import { type AnswerTo, contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { byOperator } from '../audit/operator.ts';
import type { Access } from '../context.ts';
import { endKey } from './end-key.ts';
import { companyOfKey } from './find-key.ts';
import { keyAnswer } from './key.ts';

export const revokeKey = (access: Access) =>
  handler(contract.revokeKey, async ({ body, requestId }) => {
    const { id } = body;
    const companyId = await companyOfKey(access, id);
    return json<AnswerTo<'revokeKey'>>(
      200,
      keyAnswer(await endKey(access, { companyId, id, by: byOperator(requestId) })),
    );
  });
