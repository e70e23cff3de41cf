import { contract } from '@causeway/proto';
import type { CrmContext } from '../context.ts';
import { companyList } from './company-list.ts';
import { readPeople } from './read-people.ts';

/** Active employees, affiliates excluded, by full name (contract, "Lookups"). */
export const listEmployees = ({ db }: CrmContext) =>
  companyList(contract.listEmployees, 'employees', (companyIds) =>
    readPeople(db, companyIds, 'employee', ({ employee_id, full_name }) => ({ employee_id, full_name })),
  );
