import { transaction, writeAudit } from '@causeway/runtime';
import { byOperator } from '../audit/operator.ts';
import type { Access } from '../context.ts';
import { companyEntry, companyName } from '../key-table/entries.ts';
import { operatorHandler } from '../operator-handler.ts';
import { companyAnswer } from './company.ts';

export const createCompany = (access: Access) =>
  operatorHandler(access, 'createCompany', async ({ name }, { requestId }) => {
    const { db, table, now } = access;
    const created_utc = now();
    const company_id = await transaction(db, async (trx) => {
      const { insertId } = await trx
        .insertInto('companies')
        .values({ name, created_utc })
        .executeTakeFirstOrThrow();
      const companyId = Number(insertId);
      await writeAudit(trx, {
        companyId,
        by: byOperator(requestId),
        action: 'company.created',
        target: { kind: 'company', id: companyId, name },
        after: { name },
        at: created_utc,
      });
      return companyId;
    });
    const company = { company_id, name, created_utc };
    await table.publish(companyName(company), companyEntry({ ...company, version: 1, ...noLimits }));
    return companyAnswer(company);
  });

const noLimits = { limit_read: null, limit_write: null, limit_admin: null, limit_lookup: null } as const;
