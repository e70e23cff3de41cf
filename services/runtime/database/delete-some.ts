import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { rowList, type Value } from './row-list.ts';

/**
 * Deletes up to `limit` rows that meet a condition, by their keys, which it reads first. (MySQL needs no such detour for
 * `DELETE … LIMIT`, but Vitess cannot plan that over several shards.)
 * @returns how many rows it has deleted.
 */
export const deleteSome = async <DB>(db: Kysely<DB>, options: DeleteSomeOptions<DB>): Promise<number> => {
  const { table, key, where, limit } = options;
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const { rows } = await sql<Readonly<Record<string, Value>>>`
    SELECT ${columns} FROM ${sql.table(table)} WHERE ${where} LIMIT ${sql.lit(limit)}`.execute(db);
  if (rows.length === 0) return 0;
  const keys = rowList(rows.map((row) => key.map((column) => row[column]!)));
  const { numAffectedRows = 0n } = await sql`
    DELETE /*+ INDEX(${sql.table(table)} PRIMARY) */ FROM ${sql.table(table)}
    WHERE (${columns}) IN (${keys}) AND ${where}`.execute(db);
  return Number(numAffectedRows);
};

export interface DeleteSomeOptions<DB> {
  readonly table: keyof DB & string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  readonly where: RawBuilder<SqlBool>;
  /** Few enough that the locks are held only briefly. */
  readonly limit: number;
}
