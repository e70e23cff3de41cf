import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

export interface Person {
  readonly company_id: number;
  readonly employee_id: number;
  readonly full_name: string;
}

/** The people in a lookup, per company and by name. The column `listed_as` says which lookup lists a person. */
export const readPeople = async <Item>(
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
