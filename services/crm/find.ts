import { type Contract, contract, type QueryOf } from '@causeway/proto';
import { personFound } from '@causeway/proto/schemas';
import { handler, json } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import { foldedAddress } from './addresses.ts';
import type { CrmContext } from './context.ts';
import { phoneDigits } from './phones.ts';
import { names, selectPeople, showPerson } from './records.ts';
import type { Tables } from './tables.ts';

export const findLeads = ({ db }: CrmContext) => findPeople(db, contract.findLeads);

export const findClients = ({ db }: CrmContext) => findPeople(db, contract.findClients);

/** The most records in an answer (contract, "Leads and clients"). */
const limit = 25;

const findPeople = <const O extends FindOperation>(db: Kysely<Tables>, operation: O) =>
  handler(operation, async ({ companyId, query }) => {
    const { phone, ...criteria } = query as FindQuery;
    const found = await Promise.all(
      phoneConditions(phone).map((called) =>
        find(db, companyId, { ...criteria, called }, operation.id === 'findLeads'),
      ),
    );
    const byId = new Map(found.flat().map((row) => [row.client_id, row]));
    const rows = [...byId.values()].sort((one, other) => other.client_id - one.client_id);
    const clients = rows.slice(0, limit).map(showPerson);
    return json(200, { clients, count: clients.length, hasMore: rows.length > limit });
  });

type FindOperation = Contract['findClients' | 'findLeads'];
type FindQuery = QueryOf<FindOperation>;
type Wanted = Omit<FindQuery, 'phone'> & { readonly called: PhoneCondition | undefined };

/** One row more than an answer holds. */
const find = async (db: Kysely<Tables>, companyId: number, criteria: Wanted, isLead: boolean) => {
  const address = criteria.email && foldedAddress(criteria.email);
  const found: Awaited<ReturnType<typeof select>> = [];
  for (let before: number | undefined; ; ) {
    const rows = await select(db, companyId, criteria, isLead, before);
    // The index of addresses takes look-alikes for each other.
    found.push(...rows.filter(({ email }) => address === undefined || foldedAddress(email) === address));
    if (found.length > limit || rows.length < rowsAtOnce) return found;
    before = rows.at(-1)!.client_id;
  }
};

const rowsAtOnce = 250;

/** Every condition has an index. Ids grow with time: newest first. */
const select = (
  db: Kysely<Tables>,
  companyId: number,
  criteria: Wanted,
  isLead: boolean,
  before: number | undefined,
) => {
  let query = selectPeople(db, companyId, names(personFound)).where('is_lead', '=', isLead ? 1 : 0);
  if (criteria.client_id !== undefined) query = query.where('client_id', '=', criteria.client_id);
  if (criteria.external_id !== undefined) query = query.where('external_id', '=', criteria.external_id);
  if (criteria.email !== undefined) query = query.where('email', 'in', spellings(criteria.email));
  if (before !== undefined) query = query.where('client_id', '<', before);
  if (criteria.called) query = query.where(criteria.called.column, 'in', criteria.called.numbers);
  if (criteria.called?.withoutExtension)
    for (const mark of ['%x%', '%#%', '%int%']) query = query.where('phone', 'not like', mark);
  return query
    .orderBy('client_id', 'desc')
    .limit(criteria.email === undefined ? limit + 1 : rowsAtOnce)
    .execute();
};

/** The index does not know all letters with two cases. */
const spellings = (address: string): readonly string[] => [
  ...new Set([address, foldedAddress(address), address.toLowerCase(), address.toUpperCase()]),
];

interface PhoneCondition {
  readonly column: 'phone_reversed' | 'phone_main_reversed';
  readonly numbers: readonly string[];
  readonly withoutExtension?: boolean;
}

/** Each has an index: the same number, or one that only differs by a `(0)` or an extension of one side (contract, "Fields"). */
const phoneConditions = (phone: string | undefined): readonly (PhoneCondition | undefined)[] => {
  if (phone === undefined) return [undefined];
  const { all, dialled, main } = phoneDigits(phone);
  return [
    { column: 'phone_reversed', numbers: [all, dialled, main] },
    { column: 'phone_main_reversed', numbers: [all, dialled] },
    ...(main === dialled
      ? []
      : [{ column: 'phone_main_reversed', numbers: [main], withoutExtension: true } as const]),
  ];
};
