import { type AnswerOf, contract, type KeyOperation, parseQuery } from '@causeway/proto';
import { type Call, type Handler, laneHandler } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { CrmContext } from './context.ts';
import { globalCompanyId, type Tables } from './tables.ts';

/** Active employees, affiliates excluded, by full name (contract, "Lookups"). */
export const listEmployees = ({ db }: CrmContext) =>
  companyList(contract.listEmployees, 'employees', (companyIds) =>
    readPeople(db, companyIds, 'employee', ({ employee_id, full_name }) => ({ employee_id, full_name })),
  );

/** Active and approved affiliates by full name (contract, "Lookups"). */
export const listAffiliates = ({ db }: CrmContext) =>
  companyList(contract.listAffiliates, 'affiliates', (companyIds) =>
    readPeople(db, companyIds, 'affiliate', ({ employee_id, full_name }) => ({
      affiliate_id: employee_id,
      full_name,
    })),
  );

/** The company's own statuses, except lead statuses, then the global ones, by name (contract, "Lookups"). */
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

/** A company that is not in the result has an empty list. */
type ReadLists<Item> = (companyIds: readonly number[]) => Promise<ReadonlyMap<number, readonly Item[]>>;

/** One query answers a batch. Nothing is cached between batches: no answer is older than its request. */
const companyList = <
  O extends KeyOperation & { readonly query: null },
  Name extends Exclude<keyof AnswerOf<O>, 'count'>,
>(
  operation: O,
  name: Name & string,
  read: ReadLists<ItemOf<AnswerOf<O>[Name]>>,
): Handler<O['id']> => {
  const empty = bodyOf(name, []);
  return laneHandler(operation, (calls) => {
    const companyIds = new Set<number>();
    const accepted = calls.map(async (call: Call) => {
      parseQuery(operation, call.query);
      companyIds.add(call.tenant);
    });
    const bodies =
      companyIds.size === 0
        ? undefined
        : read([...companyIds]).then(
            (lists) => new Map([...lists].map(([companyId, items]) => [companyId, bodyOf(name, items)])),
          );
    return calls.map(async (call, at) => {
      await accepted[at];
      return { status: 200, body: (await bodies)?.get(call.tenant) ?? empty };
    });
  });
};

type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

const bodyOf = (name: string, items: readonly unknown[]): Buffer =>
  Buffer.from(JSON.stringify({ [name]: items, count: items.length }));

interface Person {
  readonly company_id: number;
  readonly employee_id: number;
  readonly full_name: string;
}

/** The column `listed_as` says which lookup lists a person. */
const readPeople = async <Item>(
  db: Kysely<Tables>,
  companyIds: readonly number[],
  listedAs: 'employee' | 'affiliate',
  item: (person: Person) => Item,
): Promise<ReadonlyMap<number, readonly Item[]>> => {
  const people = await db
    .selectFrom('employees')
    .select(['company_id', 'employee_id', 'full_name'])
    .where('company_id', 'in', companyIds)
    .where('listed_as', '=', listedAs)
    // The order of the index `lookup`, which covers all the columns: no sorting, no row reads.
    .orderBy('company_id')
    .orderBy('full_name')
    .orderBy('employee_id')
    .execute();
  const lists = new Map<number, Item[]>();
  for (const person of people) {
    const list = lists.get(person.company_id);
    if (list) list.push(item(person));
    else lists.set(person.company_id, [item(person)]);
  }
  return lists;
};
