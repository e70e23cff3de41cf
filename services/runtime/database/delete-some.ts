import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from './connect.ts';
import { rowList, type Value } from './row-list.ts';
import { byShard } from './shards.ts';

/**
 * Deletes up to `limit` rows that meet a condition, by their keys, which it reads first. (MySQL needs no such detour for
 * `DELETE … LIMIT`, but Vitess cannot plan that over several shards.)
 * @param all the handle that may do so in all companies.
 * @returns how many rows it has deleted.
 */
export const deleteSome = async <DB>(
  db: Database<DB>,
  all: Kysely<DB>,
  options: DeleteSomeOptions<DB>,
): Promise<number> => {
  const { table, key, where, limit } = options;
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const { rows } = await sql<Readonly<Record<string, Value>>>`
    SELECT ${columns} FROM ${sql.table(table)} WHERE ${where} LIMIT ${sql.lit(limit)}`.execute(all);
  if (rows.length === 0) return 0;
  const counts = await byShard(db, rows, companyOf, async (some) => {
    const keys = rowList(some.map((row) => key.map((column) => row[column]!)));
    const { numAffectedRows = 0n } = await sql`
      DELETE /*+ INDEX(${sql.table(table)} PRIMARY) */ FROM ${sql.table(table)}
      WHERE (${columns}) IN (${keys}) AND ${where}`.execute(all);
    return Number(numAffectedRows);
  });
  return counts.reduce((sum, count) => sum + count, 0);
};

/** A table without companies is in no shard. */
const companyOf = ({ company_id = 0 }: Readonly<Record<string, Value>>): number => Number(company_id);

export interface DeleteSomeOptions<DB> {
  readonly table: keyof DB & string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  readonly where: RawBuilder<SqlBool>;
  /** Few enough that the locks are held only briefly. */
  readonly limit: number;
}
