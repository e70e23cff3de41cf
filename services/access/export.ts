import { type ExportedKind, exportedRows, exportPage } from '@causeway/identity';
import { byOperator, contract } from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import { audit } from './audit.ts';
import { lockCompany } from './closing.ts';
import type { Access } from './context.ts';
import { limitColumns } from './key-table/entries.ts';
import { keyAnswer, keyColumns, limitsAnswer, networksOf } from './keys/key-answers.ts';
import { selectCompany } from './rows.ts';

/** Its first page notes the export in the audit log. */
export const exportCompany = (access: Access) =>
  handler(contract.exportCompany, async ({ body: { company_id, after }, requestId }) => {
    if (after === undefined)
      await transaction(access.db, async (trx) => {
        const { name } = await lockCompany(trx, company_id);
        const author = { companyId: company_id, by: byOperator(requestId), at: access.now() };
        await audit(trx, author, 'company.exported', ['company', company_id, name]);
      });
    return json(200, await exportPage(kindsOf(access, company_id), after));
  });

const kindsOf = ({ db }: Access, companyId: number): readonly ExportedKind[] => [
  exportedRows(
    'company',
    selectCompany(db, companyId)
      .select(['company_id', 'name', 'created_utc', 'closed_utc', 'require_factor'])
      .select(limitColumns),
    ['company_id'],
    ({ company_id, name, created_utc, closed_utc, require_factor, ...limits }) => ({
      ...{ company_id, name, created_utc, closed_utc },
      requires_second_factor: require_factor === 1,
      limits: limitsAnswer(limits),
    }),
  ),
  exportedRows(
    'member',
    db
      .selectFrom('portal_users')
      .select(['id', 'email', 'name', 'role', 'last_sign_in_utc', 'created_utc'])
      .where('company_id', '=', companyId),
    ['id'],
  ),
  exportedRows(
    'key',
    db
      .selectFrom('api_keys')
      .select([...keyColumns, ...limitColumns])
      .where('company_id', '=', companyId),
    ['id'],
    (row) => ({
      ...{ ...keyAnswer(row), note: row.note, expires_utc: row.expires_utc },
      ...{ networks: networksOf(row), limits: limitsAnswer(row) },
    }),
  ),
];
