import {
  buckets,
  type KeyUse,
  keyUsedSubject,
  type RequestCount,
  requestsCountedSubject,
} from '@causeway/proto';
import {
  type Bus,
  byShard,
  createTally,
  type Database,
  isNotice,
  type Log,
  type Metrics,
  type Tally,
} from '@causeway/runtime';
import { sql } from 'kysely';
import { z } from 'zod';
import type { AccessTables } from '../schema.ts';

const minuteMs = 60_000;

/**
 * `last_used_utc` never precedes the key's creation and only moves forward, whatever the order of reports and
 * replicas. A minute in the future is cut to the current one, or the time would stand still until then. A
 * revoked key only takes uses from before it was revoked: reports come late, and after a leak somebody will
 * ask for its last use.
 */
export const recordKeyUses = (options: ReportsOptions): ReportWriter =>
  gatherReports<KeyUse>({
    ...options,
    subject: keyUsedSubject,
    what: 'last uses',
    row: z
      .tuple([positive, positive, positive])
      .transform(([key, company, minute]) => [key, company, notAfter(options, minute)] as const),
    nameOf: ([key]) => `${key}`,
    merge: (known, use) => (known[2] < use[2] ? use : known),
    companyOf: ([, company]) => company,
    write: writeUses,
  });

export interface ReportsOptions {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => Date;
}

const whole = z.int().nonnegative();
const positive = z.int().positive();

/** A gateway's clock may be ahead; rows must not be in the future. */
const notAfter = ({ now }: ReportsOptions, minute: number): number =>
  Math.min(minute, Math.floor(now().getTime() / minuteMs));

/** One statement per minute, rows in key order, so that concurrent writers queue instead of deadlocking. */
const writeUses = async (db: Database<AccessTables>, uses: readonly KeyUse[]): Promise<void> => {
  for (const [minute, ofMinute] of Map.groupBy(uses, (use) => use[2])) {
    const used = new Date(minute * minuteMs);
    const keys = ofMinute.toSorted((a, b) => a[1] - b[1] || a[0] - b[0]);
    await db
      .updateTable('api_keys')
      // Uses are reported by the minute, which may have begun before the key was created.
      .set(({ fn, val }) => ({ last_used_utc: fn<Date>('GREATEST', ['created_utc', val(used)]) }))
      .where(({ eb, refTuple, tuple }) =>
        eb(
          refTuple('company_id', 'id'),
          'in',
          keys.map(([id, companyId]) => tuple(companyId, id)),
        ),
      )
      .where((eb) => eb.or([eb('revoked_utc', 'is', null), eb('revoked_utc', '>=', used)]))
      .where((eb) => eb.or([eb('last_used_utc', 'is', null), eb('last_used_utc', '<', used)]))
      .execute();
  }
};

export const recordRequests = (options: ReportsOptions): ReportWriter =>
  gatherReports<RequestCount>({
    ...options,
    subject: requestsCountedSubject,
    what: 'request counts',
    row: z
      .tuple([whole, whole, z.enum(buckets), whole, whole, whole, whole])
      .transform((row) => row.with(3, notAfter(options, row[3])) as unknown as RequestCount),
    nameOf: (count) => count.slice(0, 4).join(' '),
    merge: ([company, key, bucket, minute, ...sums], [, , , , ...more]) => [
      company,
      key,
      bucket,
      minute,
      sums[0] + more[0],
      sums[1] + more[1],
      sums[2] + more[2],
    ],
    companyOf: ([company]) => company,
    write: addCounts,
  });

const addCounts = async (db: Database<AccessTables>, counts: readonly RequestCount[]): Promise<void> => {
  const rows = counts
    .map(([company_id, key_id, bucket, minute, answered, limited, failed]) => ({
      company_id,
      minute_utc: new Date(minute * minuteMs),
      key_id,
      bucket,
      answered,
      limited,
      failed,
    }))
    // Sorted by key, so that concurrent writers queue instead of deadlocking.
    .toSorted(
      (a, b) =>
        a.company_id - b.company_id ||
        a.minute_utc.getTime() - b.minute_utc.getTime() ||
        a.key_id - b.key_id ||
        a.bucket.localeCompare(b.bucket),
    );
  await db
    .insertInto('request_minutes')
    .values(rows)
    .onDuplicateKeyUpdate({
      answered: sql`request_minutes.answered + VALUES(answered)`,
      limited: sql`request_minutes.limited + VALUES(limited)`,
      failed: sql`request_minutes.failed + VALUES(failed)`,
    })
    .execute();
};

/** Reports of several gateways arrive close together and become one batch. */
const gatherMs = 1000;
/** More rows in one statement hold their locks longer without saving much. */
const maxRowsPerWrite = 500;
/** Rows kept while the database is unreachable. Further rows are dropped. */
const maxRows = 100_000;

interface ReportWriter {
  drain(): Promise<void>;
}

/** One replica of a queue group. Failed rows return to the tally and are written later, no row twice. */
export const gatherReports = <Row>(options: ReportOptions<Row>): ReportWriter => {
  const { bus, db, log, metrics, what, nameOf, companyOf, merge, write } = options;
  const report = z.array(options.row);
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
    everyMs: options.gatherMs ?? gatherMs,
    maxWaiting: maxRows,
    flush: writeAll,
  });
  const take = (row: Row): void => {
    const known = tally.of(nameOf(row), () => ({ row }));
    if (known.row !== row) known.row = merge(known.row, row);
  };

  const subscription = bus.nc.subscribe(options.subject, {
    queue: 'access',
    callback: (error, message) => {
      if (error || !isNotice(message)) return;
      try {
        for (const row of report.parse(JSON.parse(message.string()))) take(row);
      } catch (cause) {
        log.error({ error: cause }, `report of ${what} cannot be read`);
      }
    },
  });

  return {
    drain: async () => {
      subscription.unsubscribe();
      draining = true;
      await tally.drain();
    },
  };
};

interface ReportOptions<Row> extends ReportsOptions {
  readonly gatherMs?: number;
  readonly subject: string;
  readonly what: string;
  /** One wrong value would fail the statement for all rows. */
  readonly row: z.ZodType<Row>;
  /** Rows with the same name are merged. */
  readonly nameOf: (row: Row) => string;
  readonly merge: (known: Row, row: Row) => Row;
  readonly companyOf: (row: Row) => number;
  /** Its rows are in one shard. */
  readonly write: (db: Database<AccessTables>, rows: readonly Row[]) => Promise<void>;
}
