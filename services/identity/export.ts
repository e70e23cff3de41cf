import { type SelectQueryBuilder, sql } from 'kysely';

/** One kind of line of an export, in the order of a key. */
export interface ExportedKind {
  readonly type: string;
  /** @param after the key of the last line; empty: none @returns at most `rowsAtOnce` rows */
  readonly read: (after: readonly number[], limit: number) => Promise<readonly ExportedRow[]>;
}

export interface ExportedRow {
  readonly key: readonly number[];
  /** JSON. */
  readonly line: string;
}

/** `after` of the next page; null: this was the last one. */
export interface ExportedPage {
  readonly lines: readonly string[];
  readonly next: string | null;
}

/** The rows of a query as lines, in the order of the numbers in `key`. */
export const exportedRows = <DB, Table extends keyof DB, Row extends object>(
  type: string,
  query: SelectQueryBuilder<DB, Table, Row>,
  key: readonly (keyof Row & string)[],
  show: (row: Row) => object = (row) => row,
): ExportedKind => ({
  type,
  read: async (after, limit) => {
    const columns = key.map((column) => sql.ref(column));
    const place = key.map((_, at) => after[at] ?? 0);
    let page = query.limit(limit);
    if (key.length > 0) page = page.where(sql<boolean>`(${sql.join(columns)}) > (${sql.join(place)})`);
    for (const column of columns) page = page.orderBy(column);
    const rows = (await page.execute()) as Row[];
    return rows.map((row) => ({
      key: key.map((column) => Number(row[column])),
      line: JSON.stringify({ type, ...show(row) }),
    }));
  },
});

/** A page holds lines of one kind. */
export const exportPage = async (
  kinds: readonly ExportedKind[],
  after: string | undefined,
): Promise<ExportedPage> => {
  const [type, key = ''] = after?.split(':') ?? [kinds[0]!.type];
  const at = kinds.findIndex((kind) => kind.type === type);
  if (at < 0) return { lines: [], next: null };
  const rows = await kinds[at]!.read(key === '' ? [] : key.split('.').map(Number), rowsAtOnce);
  const lines: string[] = [];
  let length = 0;
  for (const { line } of rows) {
    if (length > enoughLength) break;
    lines.push(line);
    length += line.length;
  }
  const isWhole = lines.length < rowsAtOnce && lines.length === rows.length;
  const following = kinds[at + 1];
  const last = rows[lines.length - 1];
  if (!isWhole && last) return { lines, next: `${type}:${last.key.join('.')}` };
  return { lines, next: following ? `${following.type}:` : null };
};

const rowsAtOnce = 100;
/** In UTF-16 units. With one more line, an event of 256 KiB, an answer stays below the 1 MiB that NATS takes by default. */
const enoughLength = 100_000;
