import { join } from 'node:path';
import { duplicateKey, parseMysqlUrl } from '@causeway/runtime';
import { cleanUp, testDatabase } from '@causeway/runtime/testing';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { describe, expect, test } from 'vitest';
import { migrationFolders } from '../migrate/config.ts';
import { lookupsOf, readKeyspace } from './keyspaces.ts';
import { readPlainSchema, routingRules, shardedSchema } from './sharded-schema.ts';

const causeway = readKeyspace('causeway');
const directory = readKeyspace('directory');
const plain = await testDatabase({ folders: migrationFolders(join(import.meta.dirname, '../..')) });
const schema = await readPlainSchema(plain.url);
const sharded = shardedSchema(schema);

const admin = await createConnection({ ...parseMysqlUrl(plain.url), dateStrings: true });
cleanUp(async () => {
  for (const keyspace of ['directory', 'causeway'] as const)
    await admin.query('DROP DATABASE IF EXISTS ??', [databaseOf(keyspace)]);
  await admin.end();
});
// Not named as those that tests share, which may take or drop it.
const databaseOf = (keyspace: keyof typeof sharded): string => `${keyspace}_of_${plain.name}`;
const query = async <Row = Record<string, unknown>>(sql: string, values: unknown[] = []): Promise<Row[]> =>
  (await admin.query<RowDataPacket[]>(sql, values))[0] as Row[];
const load = async (keyspace: keyof typeof sharded): Promise<void> => {
  await query('CREATE DATABASE ??', [databaseOf(keyspace)]);
  await query('USE ??', [databaseOf(keyspace)]);
  for (const statement of sharded[keyspace]) await query(statement);
};
await load('directory');
await load('causeway');

const partsOf = async (database: string, table: string) => {
  const from = (what: string, columns: string, order: string) =>
    query(
      `SELECT ${columns} FROM information_schema.${what} WHERE table_schema = ? AND table_name = ? ORDER BY ${order}`,
      [database, table],
    );
  return {
    columns: await from(
      'columns',
      `column_name, column_type, is_nullable, column_default, character_set_name, collation_name, generation_expression,
        REPLACE(extra, 'auto_increment', '') AS extra`,
      'ordinal_position',
    ),
    keys: await from(
      'statistics',
      'index_name, non_unique, seq_in_index, column_name, expression, sub_part, collation, is_visible',
      'index_name, seq_in_index',
    ),
    constraints: await from('table_constraints', 'constraint_name, constraint_type', 'constraint_name'),
    references: await from(
      'key_column_usage',
      'constraint_name, column_name, referenced_table_name, referenced_column_name',
      'constraint_name, ordinal_position',
    ),
    checks: await query(
      `SELECT constraint_name, check_clause FROM information_schema.check_constraints AS c
       JOIN information_schema.table_constraints AS t USING (constraint_schema, constraint_name)
       WHERE t.table_schema = ? AND t.table_name = ? ORDER BY 1`,
      [database, table],
    ),
    partitions: await from(
      'partitions',
      'partition_name, partition_method, partition_expression, partition_description',
      'partition_ordinal_position',
    ),
    table: await from('tables', 'engine, row_format, table_collation, create_options, table_comment', '1'),
  };
};

describe.each(Object.keys(causeway.tables))('%s in a shard', (name) => {
  test('is the table of the migrations but for ids of its own', async () => {
    const parts = await partsOf(databaseOf('causeway'), name);
    expect(parts).toEqual(await partsOf(plain.name, name));
    expect(parts.columns.length).toBeGreaterThan(0);
    const [shown] = await query<{ 'Create Table': string }>('SHOW CREATE TABLE ??.??', [
      databaseOf('causeway'),
      name,
    ]);
    expect(shown?.['Create Table']).not.toContain('AUTO_INCREMENT');
  });
});

test('partitions, checks, generated columns and the search index are among what was compared', async () => {
  const count = async (table: string, condition: string): Promise<number> =>
    (
      await query(`SELECT 1 FROM information_schema.${table} WHERE ${condition} AND table_schema = ?`, [
        databaseOf('causeway'),
      ])
    ).length;
  expect(await count('partitions', 'partition_method IS NOT NULL')).toBeGreaterThan(3);
  expect(await count('table_constraints', "constraint_type = 'CHECK'")).toBeGreaterThan(0);
  expect(await count('columns', "extra LIKE '%GENERATED'")).toBeGreaterThan(2);
  expect(await count('tables', "table_name LIKE 'client\\_search\\_%'")).toBe(4);
});

test('each sequence continues the ids of its table, and nothing else gives ids', async () => {
  await query('USE ??', [databaseOf('directory')]);
  const nextIds = new Map(
    [...schema.tables].map(([name, create]) => [name, Number(/AUTO_INCREMENT=(\d+)/.exec(create)?.[1] ?? 1)]),
  );
  for (const [name, { autoIncrement }] of Object.entries(causeway.tables)) {
    if (!autoIncrement) continue;
    const rows = await query('SELECT * FROM ??', [autoIncrement.sequence.replace('directory.', '')]);
    expect([name, rows]).toEqual([name, [{ id: 0, next_id: nextIds.get(name), cache: 1000 }]]);
  }
  expect(nextIds.get('companies')).toBeGreaterThan(1_000);
});

test('the rows that the migrations wrote are in directory', async () => {
  for (const table of ['statuses', 'schema_migrations']) {
    const rows = await query('SELECT * FROM ??.?? ORDER BY 1, 2', [databaseOf('directory'), table]);
    expect(rows).toEqual(await query('SELECT * FROM ??.?? ORDER BY 1, 2', [plain.name, table]));
    expect(rows.length).toBeGreaterThan(0);
  }
});

describe.each(lookupsOf(causeway))('$table', ({ table, from, to, owner, unique }) => {
  const insert = (value: string, keyspaceId: string) =>
    query('INSERT INTO ??.?? (??, ??) VALUES (?, ?)', [
      databaseOf('directory'),
      table,
      from,
      to,
      value,
      Buffer.from(keyspaceId, 'hex'),
    ]);

  test('has the column of its owner', async () => {
    const column = async (database: string, name: string) =>
      (
        await query(
          `SELECT column_type, character_set_name, collation_name FROM information_schema.columns
           WHERE table_schema = ? AND table_name = ? AND column_name = ?`,
          [database, name, from],
        )
      )[0];
    expect(await column(databaseOf('directory'), table)).toEqual(await column(plain.name, owner));
  });

  test(unique ? 'refuses a value twice by the name of its owner’s key' : 'finds several shards', async () => {
    await insert('one', '10');
    const error = await insert('one', unique ? '20' : '10').catch((thrown: unknown) => thrown);
    const [key] = await query<{ name: string }>(
      `SELECT index_name AS name FROM information_schema.statistics
       WHERE table_schema = ? AND table_name = ? AND column_name = ? AND non_unique = 0`,
      [plain.name, owner, from],
    );
    expect(duplicateKey(error)).toBe(unique ? key?.name : 'PRIMARY');
    if (!unique) await insert('one', '20');
  });
});

test('routing rules lead to the tables of directory that services use', () => {
  expect(routingRules.rules.map(({ to_tables: [to] }) => to).sort()).toEqual(
    [
      'directory.dispatchers',
      'directory.schema_migrations',
      'directory.sealed_keys',
      'directory.sign_in_delays',
      ...Object.keys(directory.tables)
        .filter((name) => name.endsWith('_seq'))
        .map((name) => `directory.${name}`),
    ].sort(),
  );
});
