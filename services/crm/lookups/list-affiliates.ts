import { contract } from '@causeway/proto';
import type { CrmContext } from '../context.ts';
import { companyList } from './company-list.ts';
import { readPeople } from './read-people.ts';

/** Active and approved affiliates by full name (contract, "Lookups"). */
export const listAffiliates = ({ db }: CrmContext) =>
  companyList(contract.listAffiliates, 'affiliates', (companyIds) =>
    readPeople(db, companyIds, 'affiliate', ({ employee_id, full_name }) => ({
      affiliate_id: employee_id,
      full_name,
    })),
  );
