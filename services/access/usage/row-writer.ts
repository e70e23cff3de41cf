import { byShard, createTally, type Database, type Log, type Metrics, type Tally } from '@causeway/runtime';
import type { AccessTables } from '../schema.ts';

export interface RowWriter<Row> {
  take(row: Row): void;
  /** Writes what was taken. */
  drain(): Promise<void>;
}

/** More rows in one statement hold their locks longer without saving much. */
const maxRowsPerWrite = 500;
/** Rows kept while the database is unreachable. Further rows are dropped. */
const maxRows = 100_000;

/** Gathers rows and writes them in batches. Failed rows return to the tally and are written later, no row twice. */
export const createRowWriter = <Row>(options: RowWriterOptions<Row>): RowWriter<Row> => {
  const { db, log, metrics, what, nameOf, companyOf, merge, write } = options;
  let draining = false;

  const writeAll = async (items: readonly { row: Row }[]): Promise<void> => {
    const rows = items.map(({ row }) => row);
    const left = new Set(rows);
    try {
      await byShard(db, rows, companyOf, async (part, shard) => {
        // A part comes again, divided, if its shard was split. Some of its rows may be written.
        const ours = part.filter((row) => left.has(row));
        for (let at = 0; at < ours.length; at += maxRowsPerWrite) {
          const some = ours.slice(at, at + maxRowsPerWrite);
          await write(shard, some);
          for (const row of some) left.delete(row);
        }
      });
    } catch (error) {
      log.warn({ error, rows: left.size, draining }, `${what} could not be written`);
      if (!draining) for (const row of left) take(row);
    }
  };
  const tally: Tally<string, { row: Row }> = createTally({
    name: what.replaceAll(' ', '-'),
    metrics,
    everyMs: options.gatherMs,
    maxWaiting: maxRows,
    flush: writeAll,
  });
  const take = (row: Row): void => {
    const known = tally.of(nameOf(row), () => ({ row }));
    if (known.row !== row) known.row = merge(known.row, row);
  };
  return {
    take,
    drain: () => {
      draining = true;
      return tally.drain();
    },
  };
};

interface RowWriterOptions<Row> {
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly gatherMs: number;
  readonly what: string;
  /** Rows with the same name are merged. */
  readonly nameOf: (row: Row) => string;
  readonly merge: (known: Row, row: Row) => Row;
  readonly companyOf: (row: Row) => number;
  /** Its rows are in one shard. */
  readonly write: (db: Database<AccessTables>, rows: readonly Row[]) => Promise<void>;
}
