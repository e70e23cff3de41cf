import { type Database, transaction } from '@causeway/runtime';
import type { Insertable } from 'kysely';
import { affiliateRoleId, type Tables } from '../tables.ts';
import { markForSearch } from './mark-for-search.ts';

export const statusIds = { leadNew: 1, leadContacted: 2, clientActive: 20, clientPaused: 21 } as const;

/** Creates a record as the service's writers do: the row and its search mark in one transaction. */
export const makeClient = (
  db: Database<Tables>,
  companyId: number,
  fields: Partial<Insertable<Tables['clients']>> = {},
): Promise<number> =>
  transaction(db, async (trx) => {
    const { insertId } = await trx
      .insertInto('clients')
      .values({
        status_id: statusIds.clientActive,
        first_name: 'Ann',
        last_name: 'Lee',
        email: 'ann@example.com',
        ...fields,
        company_id: companyId,
      })
      .executeTakeFirstOrThrow();
    await markForSearch(trx, companyId, Number(insertId));
    return Number(insertId);
  });

export const makeEmployee = async (
  db: Database<Tables>,
  companyId: number,
  fields: Partial<Insertable<Tables['employees']>> = {},
): Promise<number> => {
  const { insertId } = await db
    .insertInto('employees')
    .values({
      role_id: 1,
      first_name: 'Grace',
      last_name: 'Murray',
      email: 'grace@example.com',
      ...fields,
      company_id: companyId,
    })
    .executeTakeFirstOrThrow();
  return Number(insertId);
};

export const makeAffiliate = (
  db: Database<Tables>,
  companyId: number,
  fields: Partial<Insertable<Tables['employees']>> = {},
): Promise<number> => makeEmployee(db, companyId, { role_id: affiliateRoleId, ...fields });
