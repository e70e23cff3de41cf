import { randomBytes } from 'node:crypto';
import type { Connection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';

/**
 * Creating and dropping a database takes half a second of CPU time; restoring it takes a twentieth of that.
 */

/**
 * Takes a database whose content equals the template's; creates one if none is free. The session of `admin`
 * holds its lock until it ends, so a killed test releases it.
 * @param admin allows several statements in one query; it uses the database from now on.
 */
export const takeDatabase = async (admin: Connection, template: string): Promise<string> => {
  await admin.query(
    "SET SESSION foreign_key_checks = 0, sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')",
  );
  const { tables: wanted, filled } = await readTemplate(admin, template);
  const name = (await takeFree(admin, template, wanted)) ?? (await make(admin, template, wanted));
  await fill(admin, template, name, filled);
  await resetCounters(admin, wanted, await readTables(admin, name));
  await admin.query('SET SESSION foreign_key_checks = 1, sql_mode = DEFAULT');
  return name;
};

/** The statements that make each table and its triggers; a table with triggers comes before the tables that they write. */
type Tables = ReadonlyMap<string, string>;

interface Template {
  readonly tables: Tables;
  /** The tables with rows. */
  readonly filled: readonly string[];
}

const templates = new Map<string, Promise<Template>>();

/** A template never changes: its name is a digest of its migrations. */
const readTemplate = (admin: Connection, template: string): Promise<Template> => {
  const read = async (): Promise<Template> => {
    const tables = await readTables(admin, template);
    const rows = await each<RowDataPacket[]>(admin, [...tables.keys()], (table) =>
      admin.format('SELECT 1 FROM ??.?? LIMIT 1', [template, table]),
    );
    return { tables, filled: [...tables.keys()].filter((_, at) => rows[at]!.length > 0) };
  };
  const found = templates.get(template) ?? read();
  templates.set(template, found);
  return found;
};

const readTables = async (admin: Connection, database: string): Promise<Tables> => {
  const [rows] = await admin.query<RowDataPacket[]>('SHOW FULL TABLES FROM ??', [database]);
  const names = rows.map((row) => {
    const [table, type] = Object.values(row) as [string, string];
    if (type !== 'BASE TABLE')
      throw new Error(`a test database holds tables only, and ${table} is a ${type}`);
    return table;
  });
  const made = await each<RowDataPacket[]>(admin, names, (table) =>
    admin.format('SHOW CREATE TABLE ??.??', [database, table]),
  );
  const [shown] = await admin.query<RowDataPacket[]>('SHOW TRIGGERS FROM ??', [database]);
  const triggers = Map.groupBy(shown, ({ Table }) => Table as string);
  const hasNone = (table: string): number => Number(!triggers.has(table));
  return new Map(
    names
      .map(
        (table, at) =>
          [
            table,
            [made[at]?.[0]?.['Create Table'] as string, ...(triggers.get(table) ?? []).map(triggerSql)].join(
              ';\n',
            ),
          ] as const,
      )
      .sort(([one], [other]) => hasNone(one) - hasNone(other)),
  );
};

const triggerSql = ({ Trigger, Timing, Event, Table, Statement }: RowDataPacket): string =>
  // The server keeps the semicolon of a statement that was sent with others, and a semicolon is added at each copy.
  `CREATE TRIGGER \`${Trigger}\` ${Timing} ${Event} ON \`${Table}\` FOR EACH ROW ${Statement.replace(/[;\s]+$/, '')}`;

/** @returns a database without rows, if one is free. */
const takeFree = async (admin: Connection, template: string, wanted: Tables): Promise<string | undefined> => {
  const [rows] = await admin.query<RowDataPacket[]>('SHOW DATABASES LIKE ?', [`${template}\\_%`]);
  for (const row of rows) {
    const name = String(Object.values(row)[0]);
    if (!(await lock(admin, name))) continue;
    // Another test can have dropped it between the list and the lock.
    const found = await readTables(admin, name).catch(noTablesIfDropped);
    if (sameTables(wanted, found)) {
      await admin.query('USE ??', [name]);
      await empty(admin, [...wanted.keys()]);
      return name;
    }
    // A test has changed its tables.
    await admin.query('DROP DATABASE IF EXISTS ??', [name]);
    await admin.query('DO RELEASE_LOCK(?)', [name]);
  }
  return undefined;
};

const noTablesIfDropped = (error: { readonly code?: string }): Tables => {
  if (error.code === 'ER_BAD_DB_ERROR') return new Map();
  throw error;
};

const make = async (admin: Connection, template: string, wanted: Tables): Promise<string> => {
  const name = `${template}_${randomBytes(5).toString('hex')}`;
  await lock(admin, name);
  await admin.query('CREATE DATABASE ??', [name]);
  await admin.query('USE ??', [name]);
  await each(admin, [...wanted.values()], (statement) => statement);
  return name;
};

const lock = async (admin: Connection, name: string): Promise<boolean> => {
  const [rows] = await admin.query<RowDataPacket[]>('SELECT GET_LOCK(?, 0) AS got', [name]);
  return rows[0]?.got === 1;
};

const counter = / AUTO_INCREMENT=(\d+)/;

const sameTables = (wanted: Tables, found: Tables): boolean =>
  wanted.size === found.size &&
  [...wanted].every(([table, made]) => found.get(table)?.replace(counter, '') === made.replace(counter, ''));

/** Up to this many rows, DELETE is faster than TRUNCATE. */
const fewRows = 2_000;

const empty = async (admin: Connection, tables: readonly string[]): Promise<void> => {
  const deleted = await each<ResultSetHeader>(admin, tables, (table) =>
    admin.format(`DELETE FROM ?? LIMIT ${fewRows}`, [table]),
  );
  const rest = tables.filter((_, at) => deleted[at]?.affectedRows === fewRows);
  await each(admin, rest, (table) => admin.format('TRUNCATE TABLE ??', [table]));
};

const fill = async (
  admin: Connection,
  template: string,
  name: string,
  filled: readonly string[],
): Promise<void> => {
  if (filled.length === 0) return;
  const [columns] = await admin.query<RowDataPacket[]>(
    `SELECT TABLE_NAME AS 'table', COLUMN_NAME AS 'column' FROM information_schema.COLUMNS
     WHERE TABLE_SCHEMA = ? AND TABLE_NAME IN (?) AND GENERATION_EXPRESSION = ''`,
    [name, filled],
  );
  const stored = Map.groupBy(columns, ({ table }) => table as string);
  await each(admin, filled, (table) => {
    const names = stored.get(table)!.map(({ column }) => column as string);
    // A trigger may have written the row already.
    return admin.format('REPLACE INTO ?? (??) SELECT ?? FROM ??.??', [table, names, names, template, table]);
  });
};

/** Resets the next ID of each table to its value after the migrations. */
const resetCounters = (admin: Connection, wanted: Tables, found: Tables): Promise<unknown> => {
  const nextId = (made = '') => counter.exec(made)?.[1] ?? '1';
  const moved = [...wanted].filter(([table, made]) => nextId(made) !== nextId(found.get(table)));
  return each(admin, moved, ([table, made]) =>
    admin.format(`ALTER TABLE ?? AUTO_INCREMENT = ${nextId(made)}`, [table]),
  );
};

const each = async <Result, Item = string>(
  admin: Connection,
  items: readonly Item[],
  statement: (item: Item) => string,
): Promise<readonly Result[]> => {
  if (items.length === 0) return [];
  const [results] = await admin.query(items.map(statement).join(';\n'));
  return (items.length === 1 ? [results] : results) as Result[];
};
