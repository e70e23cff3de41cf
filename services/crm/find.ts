import { type Contract, contract, type QueryOf } from '@causeway/proto';
import { personFound } from '@causeway/proto/schemas';
import { handler, json } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { CrmContext } from './context.ts';
import { names, selectPeople, showPerson } from './records.ts';
import { reversedDigits } from './search/text.ts';
import type { Tables } from './tables.ts';

export const findLeads = ({ db }: CrmContext) => findPeople(db, contract.findLeads);

export const findClients = ({ db }: CrmContext) => findPeople(db, contract.findClients);

/** The most records in an answer (contract, "Leads and clients"). */
const limit = 25;

const findPeople = <const O extends FindOperation>(db: Kysely<Tables>, operation: O) =>
  handler(operation, async ({ companyId, query }) => {
    const rows = await select(db, companyId, query as FindQuery, operation.id === 'findLeads');
    const clients = rows.slice(0, limit).map(showPerson);
    return json(200, { clients, count: clients.length, hasMore: rows.length > limit });
  });

type FindOperation = Contract['findClients' | 'findLeads'];
type FindQuery = QueryOf<FindOperation>;

/** One row more than an answer holds. Every condition has an index. Ids grow with time: newest first. */
const select = (db: Kysely<Tables>, companyId: number, wanted: FindQuery, isLead: boolean) => {
  let query = selectPeople(db, companyId, names(personFound)).where('is_lead', '=', isLead ? 1 : 0);
  if (wanted.client_id !== undefined) query = query.where('client_id', '=', wanted.client_id);
  if (wanted.external_id !== undefined) query = query.where('external_id', '=', wanted.external_id);
  if (wanted.email !== undefined) query = query.where('email', '=', wanted.email);
  if (wanted.phone !== undefined) query = query.where('phone_reversed', '=', reversedDigits(wanted.phone));
  return query
    .orderBy('client_id', 'desc')
    .limit(limit + 1)
    .execute();
};
