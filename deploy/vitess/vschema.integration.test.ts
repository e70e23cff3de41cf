import { join } from 'node:path';
import { testDatabase } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { migrationFolders } from '../migrate/config.ts';
import { lookupsOf, readKeyspace } from './keyspaces.ts';

// Fails for a new table, id, unique key or foreign key that does not work for companies on different servers.

const causeway = readKeyspace('causeway');
const directory = readKeyspace('directory');

const unsharded: Readonly<Record<string, string>> = {
  schema_migrations: 'records the migrations of the one schema',
  sealed_keys: 'holds a handful of keys of the service itself',
  dispatchers: 'holds the running dispatchers, which serve every company',
  sign_in_delays: 'holds digests of addresses and accounts, and no company',
  statuses: 'is joined with every company’s rows; it is small, and each shard holds a full copy',
};

const { query, name: database } = await testDatabase({
  folders: migrationFolders(join(import.meta.dirname, '../..')),
});
const columns = await query<{ table: string; column: string; extra: string }>(
  `SELECT table_name AS \`table\`, column_name AS \`column\`, extra AS extra FROM information_schema.columns
   WHERE table_schema = ?`,
  [database],
);
const uniqueKeys = await query<{ table: string; name: string; columns: string }>(
  `SELECT table_name AS \`table\`, index_name AS name,
     GROUP_CONCAT(COALESCE(column_name, '(expression)') ORDER BY seq_in_index) AS columns
   FROM information_schema.statistics WHERE table_schema = ? AND non_unique = 0 GROUP BY table_name, index_name`,
  [database],
);
const foreignKeys = await query<{ table: string; name: string; to: string; pairs: string }>(
  `SELECT table_name AS \`table\`, constraint_name AS name, referenced_table_name AS \`to\`,
     GROUP_CONCAT(CONCAT(column_name, '=', referenced_column_name)) AS pairs
   FROM information_schema.key_column_usage
   WHERE table_schema = ? AND referenced_table_name IS NOT NULL GROUP BY 1, 2, 3`,
  [database],
);
const tables = [...new Set(columns.map(({ table }) => table))].sort();
const sharded = tables.filter(
  (table) => !(table in unsharded) && directory.tables[table]?.type !== 'sequence',
);

test('every table belongs to a keyspace, and keyspaces list no other tables', () => {
  const made = Object.entries(directory.tables)
    .filter(
      ([name, { type }]) => type !== 'sequence' && !lookupsOf(causeway).some(({ table }) => table === name),
    )
    .map(([name]) => name);
  expect(made.sort()).toEqual(Object.keys(unsharded).sort());
  expect(Object.keys(causeway.tables).sort()).toEqual([...sharded, 'statuses'].sort());
  expect(tables).toEqual(expect.arrayContaining(Object.keys(unsharded)));
  expect([causeway.sharded, directory.sharded]).toEqual([true, false]);
});

test('an unsharded table has no company, or a copy in every shard', () => {
  for (const table of Object.keys(unsharded)) {
    const ofCompanies = columns.some((one) => one.table === table && one.column === 'company_id');
    const copied = causeway.tables[table]?.source === `directory.${table}`;
    expect({ table, copied }).toEqual({ table, copied: ofCompanies });
  }
});

describe.each(sharded)('%s', (name) => {
  const table = causeway.tables[name];

  test('is in the shard of its company', () => {
    expect(columns.some((one) => one.table === name && one.column === 'company_id')).toBe(true);
    expect(table?.columnVindexes?.[0]).toEqual({ column: 'company_id', name: 'company' });
  });

  test('takes its ids from a sequence that all shards share', () => {
    const column = columns.find((one) => one.table === name && one.extra.includes('auto_increment'))?.column;
    expect(table?.autoIncrement?.column).toBe(column);
    if (column === undefined) return;
    const [keyspace, sequence = ''] = table?.autoIncrement?.sequence.split('.') ?? [];
    expect([keyspace, directory.tables[sequence]]).toEqual(['directory', { type: 'sequence' }]);
  });

  test('has no unique key that two shards could both assign', () => {
    const open = uniqueKeys
      .filter((key) => key.table === name)
      .filter((key) => !key.columns.split(',').includes('company_id'))
      // A shared sequence assigns each value once.
      .filter((key) => key.columns !== table?.autoIncrement?.column)
      .filter((key) => !isLookedUp(name, key.columns))
      .map((key) => key.name);
    expect(open).toEqual([]);
  });

  test('references only rows of its shard', () => {
    const astray = foreignKeys
      .filter((key) => key.table === name)
      .filter((key) => causeway.tables[key.to]?.type !== 'reference')
      .filter((key) => !key.pairs.split(',').includes('company_id=company_id'))
      .map((key) => key.name);
    expect(astray).toEqual([]);
  });
});

/** A table of the directory maps a value of this column to its shard and keeps it unique. */
const isLookedUp = (table: string, column: string): boolean => {
  const vindex = causeway.tables[table]?.columnVindexes?.find((one) => one.column === column)?.name;
  return lookupsOf(causeway).some(
    ({ name, table: home, from, owner, unique }) =>
      name === vindex && unique && owner === table && from === column && home in directory.tables,
  );
};
