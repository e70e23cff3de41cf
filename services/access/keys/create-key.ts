import { byOperator } from '../audit/operator.ts';
import { requireCompany } from '../companies/require-company.ts';
import type { Access } from '../context.ts';
import { operatorHandler } from '../operator-handler.ts';
import { keyAnswer } from './key.ts';
import { makeKey } from './make-key.ts';

export const createKey = (access: Access) =>
  operatorHandler(access, 'createKey', async ({ company_id, name, scopes }, { requestId }) => {
    await requireCompany(access, company_id);
    const by = byOperator(requestId);
    const { row, value } = await makeKey(access, { companyId: company_id, name, scopes, by });
    return { ...keyAnswer(row), value };
  });
