import { parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { type KeyspaceName, type Lookup, lookupsOf, readKeyspace } from './keyspaces.ts';

interface PlainSchema {
  readonly tables: ReadonlyMap<string, string>;
  readonly rows: readonly string[];
}

export const readPlainSchema = async (url: string): Promise<PlainSchema> => {
  const connection = await createConnection({ ...parseMysqlUrl(url), dateStrings: true, timezone: 'Z' });
  try {
    const names = await query<{ name: string }>(
      connection,
      `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY 1`,
    );
    const tables = new Map<string, string>();
    for (const { name } of names) {
      const [row] = await query<{ 'Create Table': string }>(connection, 'SHOW CREATE TABLE ??', [name]);
      tables.set(name, row!['Create Table']);
    }
    const rows: string[] = [];
    for (const name of ownTables) if (tables.has(name)) rows.push(...(await insertOf(connection, name)));
    return { tables, rows };
  } finally {
    await connection.end();
  }
};

const insertOf = async (connection: Connection, table: string): Promise<readonly string[]> => {
  const columns = (await query<{ Field: string; Extra: string }>(connection, 'SHOW COLUMNS FROM ??', [table]))
    .filter(({ Extra }) => !/(STORED|VIRTUAL) GENERATED/.test(Extra))
    .map(({ Field }) => Field);
  const rows = await query(connection, 'SELECT ?? FROM ?? ORDER BY 1, 2', [columns, table]);
  if (rows.length === 0) return [];
  const values = rows.map((row) => columns.map((column) => row[column]));
  return [connection.format('INSERT INTO ?? (??) VALUES ?', [table, columns, values])];
};

const query = async <Row = Record<string, unknown>>(
  connection: Connection,
  sql: string,
  values?: unknown[],
): Promise<readonly Row[]> => (await connection.query<RowDataPacket[]>(sql, values))[0] as Row[];

const causeway = readKeyspace('causeway');
const directory = readKeyspace('directory');
/** Without the sequences, which continue the ids that the plain tables have assigned. */
const ownTables = Object.entries(directory.tables).flatMap(([name, { type }]) =>
  type === 'sequence' ? [] : [name],
);

/** Create `directory` first: the sharded tables take their ids from its sequences. */
export const shardedSchema = ({ tables, rows }: PlainSchema): Readonly<Record<KeyspaceName, string[]>> => {
  const create = (name: string): string => {
    const statement = tables.get(name);
    if (statement === undefined) throw new Error(`the schema has no table ${name}: it is not fully migrated`);
    return withoutVersionComments(statement);
  };
  const sequences = [causeway, directory].flatMap((keyspace) =>
    Object.entries(keyspace.tables).flatMap(([name, { autoIncrement }]) =>
      autoIncrement ? sequenceOf(autoIncrement.sequence.replace(/^directory\./, ''), create(name)) : [],
    ),
  );
  const ownPresent = ownTables.filter((name) => tables.has(name));
  return {
    directory: [
      ...inOrder(ownPresent, tables).map((name) =>
        directory.tables[name]?.autoIncrement ? withoutIds(create(name)) : create(name),
      ),
      ...lookupsOf(causeway).map((lookup) => lookupTable(lookup, create(lookup.owner))),
      ...sequences,
      ...rows,
    ],
    // A copy of a reference table takes no ids of its own either.
    causeway: inOrder(Object.keys(causeway.tables), tables).map((name) => withoutIds(create(name))),
  };
};

/** Services name the tables of `directory` without their keyspace. */
export const routingRules = {
  rules: Object.entries(directory.tables)
    .filter(([name]) => !(name in causeway.tables))
    .filter(([name]) => !lookupsOf(causeway).some(({ table }) => table === name))
    .map(([name]) => ({ from_table: `causeway.${name}`, to_tables: [`directory.${name}`] })),
};

/** Newer clauses are printed as version comments, which other parsers skip. */
const withoutVersionComments = (statement: string): string =>
  statement.replace(/\/\*!\d+ ([\s\S]*?) ?\*\//g, '$1');

const withoutIds = (statement: string): string =>
  statement.replace(/ AUTO_INCREMENT=\d+/, '').replace(/ AUTO_INCREMENT(?=,?$)/gm, '');

const inOrder = (names: readonly string[], tables: PlainSchema['tables']): readonly string[] => {
  const ordered = new Set<string>();
  const add = (name: string): void => {
    if (ordered.has(name)) return;
    for (const [, to = ''] of (tables.get(name) ?? '').matchAll(/ REFERENCES `(\w+)`/g))
      if (to !== name && names.includes(to)) add(to);
    ordered.add(name);
  };
  for (const name of names) add(name);
  return [...ordered];
};

/** Has the owner's unique key under its name: services find what is taken by that name (`duplicateKey`). */
const lookupTable = ({ table, from, to, unique }: Lookup, owner: string): string => {
  const column = new RegExp(`^  \`${from}\` (.*?)(?: NOT NULL| DEFAULT NULL)?,?$`, 'm').exec(owner)?.[1];
  const key = new RegExp(`^  UNIQUE KEY (\`\\w+\`) \\(\`${from}\`\\)`, 'm').exec(owner)?.[1];
  if (!column || (unique && !key)) throw new Error(`${table}: its owner has no such column or unique key`);
  return `CREATE TABLE \`${table}\` (
  \`${from}\` ${column} NOT NULL,
  \`${to}\` varbinary(16) NOT NULL,
  ${unique ? `UNIQUE KEY ${key} (\`${from}\`)` : `PRIMARY KEY (\`${from}\`,\`${to}\`)`}
)`;
};

/** @param table the statement that creates the table whose ids it gives. */
const sequenceOf = (name: string, table: string): readonly string[] => [
  `CREATE TABLE \`${name}\` (
  \`id\` bigint NOT NULL,
  \`next_id\` bigint DEFAULT NULL,
  \`cache\` bigint DEFAULT NULL,
  PRIMARY KEY (\`id\`)
) COMMENT='vitess_sequence'`,
  `INSERT INTO \`${name}\` (id, next_id, cache) VALUES (0, ${/ AUTO_INCREMENT=(\d+)/.exec(table)?.[1] ?? 1}, ${cachedIds})`,
];

/** A tablet reserves this many ids at a time, and skips those left when it restarts. */
const cachedIds = 1_000;
