import { type AnswerOf, contract, type KeyOperation, parseQuery } from '@causeway/proto';
import { type Call, companyRows, type Handler, laneHandler, type Rows, statement } from '@causeway/runtime';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LookupContext } from './context.ts';
import { globalCompanyId, type Tables } from './tables.ts';

/** Active employees, affiliates excluded, by full name (contract, "Lookups"). */
export const listEmployees = (context: LookupContext) =>
  companyList(context, contract.listEmployees, 'employees', (companyIds) =>
    readPeople(context.db, companyIds, 'employee', ({ employee_id, full_name }) => ({
      employee_id,
      full_name,
    })),
  );

/** Active and approved affiliates by full name (contract, "Lookups"). */
export const listAffiliates = (context: LookupContext) =>
  companyList(context, contract.listAffiliates, 'affiliates', (companyIds) =>
    readPeople(context.db, companyIds, 'affiliate', ({ employee_id, full_name }) => ({
      affiliate_id: employee_id,
      full_name,
    })),
  );

/** The company's own statuses, except lead statuses, then the global ones, by name (contract, "Lookups"). */
export const listClientStatuses = (context: LookupContext) =>
  companyList(context, contract.listClientStatuses, 'statuses', async (companyIds) => {
    const { rows } = await context.db.executeQuery(
      listedStatuses(context.db, companyRows([globalCompanyId, ...companyIds])),
    );
    const listsOf = Map.groupBy(rows, ({ company_id }) => company_id);
    const shared = (listsOf.get(globalCompanyId) ?? []).map(statusItem);
    return new Map(
      companyIds.map((companyId) => {
        const own = (listsOf.get(companyId) ?? []).filter(({ is_lead }) => !is_lead).map(statusItem);
        return [companyId, [...own, ...shared]];
      }),
    );
  });

const listedStatuses = statement<[Rows], StatusRow>(
  (companies) => sql`
    SELECT company_id, status_id, status_name, is_lead, color_code FROM statuses
    WHERE (company_id) IN (${companies}) AND is_listed = 1 ORDER BY company_id, status_name, status_id`,
);

interface StatusRow {
  readonly company_id: number;
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

/** Queries answer a batch, not a call: of the versions, and of the lists that have changed (`lookup-cache.ts`). */
const companyList = <
  O extends KeyOperation & { readonly query: null },
  Name extends Exclude<keyof AnswerOf<O>, 'count'>,
>(
  { lookupCache }: LookupContext,
  operation: O,
  name: Name & string,
  read: ReadLists<ItemOf<AnswerOf<O>[Name]>>,
): Handler<O['id']> => {
  const empty = bodyOf(name, []);
  const bodiesOf = lookupCache.keep(async (companyIds) => {
    const lists = await read(companyIds);
    return (companyId) => {
      const items = lists.get(companyId);
      return items ? bodyOf(name, items) : empty;
    };
  });
  return laneHandler(operation, (calls) => {
    const companyIds = new Set<number>();
    const accepted = calls.map(async (call: Call) => {
      parseQuery(operation, call.query);
      companyIds.add(call.tenant);
    });
    const bodies = companyIds.size === 0 ? undefined : bodiesOf([...companyIds]);
    return calls.map(async (call, at) => {
      await accepted[at];
      return { status: 200, body: (await bodies)!.get(call.tenant)! };
    });
  });
};

type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

/** In memory of its own: a slice of a shared buffer would keep that whole while it is cached. */
const bodyOf = (name: string, items: readonly unknown[]): Uint8Array =>
  encoder.encode(JSON.stringify({ [name]: items, count: items.length }));

const encoder = new TextEncoder();

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
  const { rows: people } = await db.executeQuery(listedPeople[listedAs](db, companyRows(companyIds)));
  const lists = Map.groupBy(people, ({ company_id }) => company_id);
  return new Map([...lists].map(([companyId, list]) => [companyId, list.map(item)]));
};

/**
 * In the order of the index `lookup`, which covers all the columns: no sorting, no row reads. Named, because MySQL would weigh
 * every index that begins with the company for every company.
 */
const selectListed = (listedAs: RawBuilder<unknown>) =>
  statement<[Rows], Person>(
    (companies) => sql`
      SELECT /*+ INDEX(employees lookup) */ company_id, employee_id, full_name FROM employees
      WHERE (company_id) IN (${companies}) AND listed_as = ${listedAs} ORDER BY company_id, full_name, employee_id`,
  );

const listedPeople = { employee: selectListed(sql`'employee'`), affiliate: selectListed(sql`'affiliate'`) };
