import type { Connection } from 'mysql2/promise';
import { inTransaction, type Row, rowsOf, type Table, type Value } from './sql.ts';

const chunkRows = 500;
/** Of one INSERT; well below MySQL's `max_allowed_packet`. */
const insertBytes = 4 * 2 ** 20;
const duplicateEntry = 1062;

/**
 * Makes a company's rows of one table in `to` the same as in `from`, chunk by chunk along the primary key. Only chunks
 * that differ are written, so a second run is the comparison: it returns 0.
 * @returns how many rows were written or deleted.
 */
export const syncTable = async (
  from: Connection,
  to: Connection,
  table: Table,
  companyId: number,
): Promise<number> => {
  let changed = 0;
  for (let after: readonly Value[] | undefined; ; ) {
    const beyond = after && above(table, after);
    const source = await rowsOf(from, `${select(table, beyond)} LIMIT ${chunkRows}`, [
      ...[companyId],
      ...(beyond?.values ?? []),
    ]);
    const last = source.length === chunkRows ? keyOf(table, source.at(-1)!) : undefined;
    const upTo = last && notAbove(table, last);
    const target = await rowsOf(to, select(table, beyond, upTo), [
      companyId,
      ...(beyond?.values ?? []),
      ...(upTo?.values ?? []),
    ]);
    if (textOf(table, source) !== textOf(table, target)) {
      const kept = new Set(target.map((row) => textOf(table, [row])));
      const wanted = new Set(source.map((row) => textOf(table, [row])));
      const stale = target.filter((row) => !wanted.has(textOf(table, [row])));
      const missing = source.filter((row) => !kept.has(textOf(table, [row])));
      await inTransaction(to, async () => {
        for (const row of stale) await deleteRow(to, table, companyId, row);
        await insert(to, table, missing);
      }).catch((error: { readonly errno?: number }) => {
        // A unique value has moved to another row, whose chunk comes later: the next run inserts it.
        if (error.errno !== duplicateEntry) throw error;
      });
      changed += stale.length + missing.length;
    }
    if (!last) return changed;
    after = last;
  }
};

interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** The primary key's columns also as they are compared, by position. */
const select = (table: Table, ...conditions: readonly (Condition | undefined)[]): string =>
  [
    `SELECT ${table.columns.map(quoted).join(', ')}`,
    ...table.key.map((column, at) => `, ${comparable(table, column)} AS \`#${at}\``),
    `FROM ${quoted(table.name)} WHERE company_id = ?`,
    ...conditions.flatMap((condition) => (condition ? [`AND ${condition.sql}`] : [])),
    ...(table.key.length > 0 ? [`ORDER BY ${table.key.map(quoted).join(', ')}`] : []),
  ].join(' ');

/** MySQL orders an ENUM by its number, but would compare it as text. */
const comparable = ({ enums }: Table, column: string): string =>
  enums.has(column) ? `${quoted(column)} + 0` : quoted(column);

/** Keys after `values`. Spelled out, because MySQL uses no index range for `(a, b) > (?, ?)`. */
const above = (table: Table, values: readonly Value[]): Condition => compared(table, values, '>');

const notAbove = (table: Table, values: readonly Value[]): Condition => {
  const below = compared(table, values, '<');
  const equal = table.key.map((column) => `${comparable(table, column)} = ?`).join(' AND ');
  return { sql: `(${below.sql} OR (${equal}))`, values: [...below.values, ...values] };
};

const compared = (table: Table, values: readonly Value[], operator: '<' | '>'): Condition => {
  const parts = table.key.map((column, at) =>
    [
      ...table.key.slice(0, at).map((earlier) => `${comparable(table, earlier)} = ?`),
      `${comparable(table, column)} ${operator} ?`,
    ].join(' AND '),
  );
  return {
    sql: `(${parts.map((part) => `(${part})`).join(' OR ')})`,
    values: table.key.flatMap((_, at) => values.slice(0, at + 1)),
  };
};

const keyOf = ({ key }: Table, row: Row): readonly Value[] => key.map((_, at) => row[`#${at}`] ?? null);

const textOf = ({ columns }: Table, rows: readonly Row[]): string =>
  JSON.stringify(
    rows.map((row) =>
      columns.map((column) => {
        const value = row[column] ?? null;
        return Buffer.isBuffer(value) ? { hex: value.toString('hex') } : value;
      }),
    ),
  );

const deleteRow = async (to: Connection, table: Table, companyId: number, row: Row): Promise<void> => {
  const same = table.key.map((column) => `AND ${comparable(table, column)} = ?`).join(' ');
  await to.query(`DELETE FROM ${quoted(table.name)} WHERE company_id = ? ${same}`, [
    companyId,
    ...keyOf(table, row),
  ]);
};

const insert = async (to: Connection, table: Table, rows: readonly Row[]): Promise<void> => {
  const start = `INSERT INTO ${quoted(table.name)} (${table.columns.map(quoted).join(', ')}) VALUES ?`;
  let group: Value[][] = [];
  let bytes = 0;
  const send = async (): Promise<void> => {
    if (group.length > 0) await to.query(start, [group]);
    group = [];
    bytes = 0;
  };
  for (const row of rows) {
    const values = table.columns.map((column) => row[column] ?? null);
    group.push(values);
    for (const value of values) bytes += 2 * (typeof value === 'number' || value === null ? 8 : value.length);
    if (bytes > insertBytes) await send();
  }
  await send();
};

const quoted = (name: string): string => `\`${name}\``;
