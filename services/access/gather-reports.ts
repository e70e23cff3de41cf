import {
  after,
  type Bus,
  byShard,
  createBatch,
  type Database,
  isNotice,
  type Log,
  type Metrics,
} from '@causeway/runtime';
import type { AccessTables } from './schema.ts';

/** Reports of several gateways arrive close together and become one batch. */
const gatherMs = 1000;
/** More rows in one statement hold their locks longer without saving much. */
const maxRowsPerWrite = 500;
/** Rows kept while the database is unreachable. Further rows are dropped. */
const maxRows = 100_000;

export interface ReportWriter {
  /** Stops accepting reports and writes those it has. */
  drain(): Promise<void>;
}

interface Gathered<Row> {
  readonly name: string;
  row: Row;
}

/**
 * Collects the reports that gateways publish, as one replica of a queue group, and writes them in batches. Failed
 * rows return to the batch and are written later; no row is written twice.
 */
export const gatherReports = <Row>(options: ReportOptions<Row>): ReportWriter => {
  const { bus, db, log, metrics, what, read, nameOf, companyOf, merge, write } = options;
  const gathered = new Map<string, Gathered<Row>>();
  let draining = false;

  const writeAll = async (items: readonly Gathered<Row>[]): Promise<void> => {
    for (const { name } of items) gathered.delete(name);
    const rows = items.map(({ row }) => row);
    const left = new Set(rows);
    try {
      await byShard(db, rows, companyOf, async (part, own) => {
        // A part comes again, divided, if its shard was split. Some of its rows may be written.
        const ours = part.filter((row) => left.has(row));
        for (let at = 0; at < ours.length; at += maxRowsPerWrite) {
          const some = ours.slice(at, at + maxRowsPerWrite);
          await write(own, some);
          for (const row of some) left.delete(row);
        }
      });
    } catch (error) {
      log.warn({ error, rows: left.size, draining }, `${what} could not be written`);
      if (!draining) for (const row of left) take(row);
    }
  };
  const batch = createBatch<Gathered<Row>>({
    name: what.replaceAll(' ', '-'),
    metrics,
    when: after(gatherMs),
    maxItems: maxRows,
    maxWaiting: maxRows,
    flush: writeAll,
  });
  const take = (row: Row): void => {
    const name = nameOf(row);
    const known = gathered.get(name);
    if (known) known.row = merge(known.row, row);
    else {
      const item = { name, row };
      gathered.set(name, item);
      if (!batch.add(item)) gathered.delete(name);
    }
  };

  const subscription = bus.nc.subscribe(options.subject, {
    queue: 'access',
    callback: (error, message) => {
      if (error || !isNotice(message)) return;
      try {
        for (const row of read(message.data)) take(row);
      } catch (cause) {
        log.error({ error: cause }, `report of ${what} cannot be read`);
      }
    },
  });

  return {
    drain: async () => {
      subscription.unsubscribe();
      draining = true;
      await batch.drain();
    },
  };
};

export interface ReportOptions<Row> {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly subject: string;
  /** The name of the rows in log messages. */
  readonly what: string;
  /** @throws on anything that is not a report: one wrong value would fail the statement for all rows. */
  readonly read: (data: Uint8Array) => readonly Row[];
  /** Rows with the same name are merged. */
  readonly nameOf: (row: Row) => string;
  readonly merge: (known: Row, row: Row) => Row;
  readonly companyOf: (row: Row) => number;
  /** Its rows are in one shard. */
  readonly write: (db: Database<AccessTables>, rows: readonly Row[]) => Promise<void>;
}
