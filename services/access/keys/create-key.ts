import { type AnswerTo, contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { byOperator } from '../audit/operator.ts';
import { requireCompany } from '../companies/require-company.ts';
import type { Access } from '../context.ts';
import { keyAnswer } from './key.ts';
import { makeKey } from './make-key.ts';

export const createKey = (access: Access) =>
  handler(contract.createKey, async ({ body, requestId }) => {
    const { company_id, name, scopes } = body;
    await requireCompany(access, company_id);
    const by = byOperator(requestId);
    const { row, value } = await makeKey(access, { companyId: company_id, name, scopes, by });
    return json<AnswerTo<'createKey'>>(201, { ...keyAnswer(row), value });
  });
