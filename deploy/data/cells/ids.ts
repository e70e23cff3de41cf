import type { Connection } from 'mysql2/promise';
import { MoveError, rowsOf, type Table, tablesOf } from './sql.ts';

/** Cells that can ever exist. Numbers begin with 0, the first cell. */
export const maxCells = 32;
/** The ids of a table are divided into blocks; block b belongs to the cell with the number b modulo `maxCells`. */
const blockIds = 1_000_000_000_000;
/** Companies have shorter ids, because each key contains one. */
const blockCompanies = 1_000_000;

const blockOf = (table: string): number => (table === 'companies' ? blockCompanies : blockIds);

/** The first id after `last` that no other cell assigns, at the beginning of a block of the cell. */
export const firstFreeId = (table: string, cell: number, last: number): number => {
  const size = blockOf(table);
  const block = Math.floor(last / size) + 1;
  const id = (block + ((((cell - block) % maxCells) + maxCells) % maxCells)) * size + 1;
  if (!Number.isSafeInteger(id)) throw new MoveError(`${table} has no ids left for cell ${cell}`);
  return id;
};

/** Lets an empty database assign the ids of its cell. @returns the next id of each table. */
export const useOwnIds = async (connection: Connection, cell: number): Promise<Record<string, number>> => {
  const next: Record<string, number> = {};
  for (const table of await tablesOf(connection)) {
    if (table.id === undefined || cell === 0) continue;
    next[table.name] = firstFreeId(table.name, cell, blockOf(table.name) * cell - 1);
    await setNext(connection, table, next[table.name]!);
  }
  return next;
};

/**
 * Makes room for ids that another cell has assigned. InnoDB continues after the largest id of a table, so it would
 * assign the other cell's next ids here. The counter goes on to a block of this cell above them first.
 * @returns the tables whose counters were moved, with their next ids.
 */
export const makeRoom = async (
  to: Connection,
  cell: number,
  table: Table,
  largest: number,
): Promise<number | undefined> => {
  const [row] = await rowsOf(
    to,
    'SELECT auto_increment AS next FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?',
    [table.name],
  );
  if (Number(row?.next ?? 1) > largest) return undefined;
  const next = firstFreeId(table.name, cell, largest);
  await setNext(to, table, next);
  return next;
};

const setNext = async (connection: Connection, { name }: Table, next: number): Promise<void> => {
  await connection.query('ALTER TABLE ?? AUTO_INCREMENT = ?, ALGORITHM = INPLACE, LOCK = NONE', [name, next]);
};
