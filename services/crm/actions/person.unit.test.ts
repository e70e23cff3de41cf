import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { contract } from '@causeway/proto';
import { personDetails } from '@causeway/proto/schemas';
import { describe, expect, test } from 'vitest';

// Enforces the recipe "A new field of a person" in CONTRIBUTING.md. The compiler checks the type of the column.

const migrations = globSync(resolve(import.meta.dirname, '../migrations/*.sql'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
const rules = readFileSync(resolve(import.meta.dirname, '../../../proto/CONTRACT.md'), 'utf8');
const operations = ['createLead', 'createClient', 'updateLead', 'updateClient'] as const;
/** Each detail takes one of these. */
const samples = ['text', '1990-02-28', 7, true];

describe.each(Object.entries(personDetails))('the field %s of a person', (field, schema) => {
  const sample = samples.find((value) => schema.safeParse(value).success);

  test.each(operations)('is accepted by %s', (id) => {
    expect(sample, 'no sample fits the rule of the field; add one above').toBeDefined();
    const body = contract[id].body.safeParse({
      ...{ first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' },
      [field]: sample,
    });
    expect(body.error?.issues ?? []).toEqual([]);
    expect(body.data).toHaveProperty(field, sample);
  });

  test('has a column that may be null', () => {
    expect(migrations).toMatch(
      new RegExp(`^(?!.*NOT NULL).*\\b${field} [A-Z]+(?:\\(\\d+\\))?\\b.*[,;]`, 'm'),
    );
  });

  test('is in the table of fields of the contract', () => {
    expect(rules).toMatch(new RegExp(`^\\|[^|]*\`${field}\``, 'm'));
  });
});
