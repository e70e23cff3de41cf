import type { World } from './world.ts';

/** Global statuses that every company has. */
export const leadNew = 1;
export const clientActive = 20;

interface PersonFixture {
  readonly company_id: number;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly email?: string;
  readonly phone?: string | null;
  readonly external_id?: string | null;
  readonly status_id?: number;
}

let serial = 0;

/** Inserts a lead or client as the record actions do, with its entry for the search index. */
export const addPerson = async (world: World, person: PersonFixture): Promise<number> => {
  const at = ++serial;
  const id = await world.insert('clients', {
    first_name: 'Person',
    last_name: `Number${at}`,
    email: `person${at}@example.com`,
    status_id: clientActive,
    ...person,
  });
  await world.insert('client_search_pending', { company_id: person.company_id, client_id: id });
  return id;
};

interface EmployeeFixture {
  readonly company_id: number;
  readonly first_name: string;
  readonly last_name: string;
  readonly role_id?: number;
  readonly is_active?: boolean;
  readonly is_approved?: boolean;
}

export const addEmployee = (world: World, employee: EmployeeFixture): Promise<number> =>
  world.insert('employees', { role_id: 2, email: `employee${++serial}@example.com`, ...employee });
