import { type RawBuilder, sql } from 'kysely';
import { expect, test } from 'vitest';
import { TenantGuardError } from './errors.ts';
import { statement } from './statement.ts';
import { acrossTenants } from './tenant-guard.ts';
import { openGuarded } from './testing/tenants.ts';

type Rows = readonly (readonly (number | string | null)[])[];
const insert = (rows: RawBuilder<unknown>) => sql`INSERT INTO people (company_id, name) VALUES ${rows}`;

test('rows without a tenant are refused at every call', () => {
  const insertPeople = statement<[Rows]>(insert);
  const db = openGuarded();
  const refused: readonly Rows[] = [[[null, 'Ann']], [['', 'Ann']], [[1, 'Ann'], []], []];
  for (const rows of refused) expect(() => insertPeople(db, rows)).toThrow(TenantGuardError);
  insertPeople(db, [[1, 'Ann']]);
  for (const rows of refused) expect(() => insertPeople(db, rows)).toThrow(TenantGuardError);
});

test('a statement that names no tenant is refused, also after a handle without the guard compiled it', () => {
  const deletePeople = statement<[string]>((name) => sql`DELETE FROM people WHERE name = ${name}`);
  const db = openGuarded();
  expect(() => deletePeople(db, 'Ann')).toThrow(TenantGuardError);
  expect(deletePeople(acrossTenants(db, 'a test'), 'Ann').parameters).toEqual(['Ann']);
  expect(() => deletePeople(db, 'Ann')).toThrow(TenantGuardError);
});

test('parameters that stand in another order are refused', () => {
  const swapped = statement<[string, string]>((a, b) => sql`SELECT ${b}, ${a}`);
  expect(() => swapped(openGuarded(), 'a', 'b')).toThrow('another order');
});
