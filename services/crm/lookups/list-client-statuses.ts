import { contract } from '@causeway/proto';
import type { CrmContext } from '../context.ts';
import { globalCompanyId } from '../tables.ts';
import { companyList } from './company-list.ts';

/**
 * Valid and active statuses: first the company's own except lead statuses, then the global ones, each by name
 * (contract, "Lookups").
 */
export const listClientStatuses = ({ db }: CrmContext) =>
  companyList(contract.listClientStatuses, 'statuses', async (companyIds) => {
    const rows = await db
      .selectFrom('statuses')
      .select(['company_id', 'status_id', 'status_name', 'is_lead', 'color_code'])
      .where('company_id', 'in', [globalCompanyId, ...companyIds])
      .where('is_listed', '=', 1)
      .orderBy('company_id')
      .orderBy('status_name')
      .orderBy('status_id')
      .execute();
    const listsOf = Map.groupBy(rows, ({ company_id }) => company_id);
    const shared = (listsOf.get(globalCompanyId) ?? []).map(statusItem);
    return new Map(
      companyIds.map((companyId) => {
        const own = (listsOf.get(companyId) ?? []).filter(({ is_lead }) => !is_lead).map(statusItem);
        return [companyId, [...own, ...shared]];
      }),
    );
  });

interface StatusRow {
  readonly status_id: number;
  readonly status_name: string;
  readonly is_lead: number;
  readonly color_code: string;
}

const statusItem = ({ status_id, status_name, is_lead, color_code }: StatusRow) => ({
  status_id,
  status_name,
  is_lead: is_lead === 1,
  is_active: true,
  color_code,
});
