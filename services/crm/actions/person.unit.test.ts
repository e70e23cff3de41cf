import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { contract } from '@causeway/proto';
import { personDetails } from '@causeway/proto/schemas';
import { describe, expect, test } from 'vitest';
import { clientFields } from '../store/store.ts';
import { blankPerson } from './person.ts';

// Enforces the recipe "A new field of a person" in CONTRIBUTING.md. The compiler checks that the column has a type.

const migrations = globSync(resolve(import.meta.dirname, '../migrations/*.sql'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
const operations = ['createLead', 'createClient', 'updateLead', 'updateClient'] as const;

describe.each(Object.keys(personDetails))('the field %s of a person', (field) => {
  test.each(operations)('is accepted by %s', (id) => {
    const body = contract[id].body.safeParse({
      ...{ first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' },
      [field]: 'text',
    });
    expect(body.error?.issues ?? []).toEqual([]);
    expect(body.data).toHaveProperty(field, 'text');
  });

  test('is null if it is not sent', () => {
    expect(blankPerson).toHaveProperty(field, null);
  });

  test('is written and read by the store', () => {
    expect(clientFields).toContain(field);
  });

  test('has a column that may be null', () => {
    const column = new RegExp(`^\\s+(?:ADD COLUMN )?${field} \\w+(?:\\(\\d+\\))?(?: NULL)?,`, 'm');
    expect(migrations).toMatch(column);
  });
});
