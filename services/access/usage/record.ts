import { buckets, type RequestCount, type RequestReport, requestsCountedSubject } from '@causeway/proto';
import type { Bus, Database, Log, Metrics } from '@causeway/runtime';
import { sql } from 'kysely';
import { gatherReports, type ReportWriter } from '../gather-reports.ts';
import type { AccessTables } from '../schema.ts';

const minuteMs = 60_000;

/** Stores the request counts that the gateways report. */
export const recordRequests = ({ bus, db, log, metrics, now }: RequestCountsOptions): ReportWriter =>
  gatherReports<RequestCount>({
    bus,
    db,
    log,
    metrics,
    subject: requestsCountedSubject,
    what: 'request counts',
    read: (data) => {
      // A gateway's clock may be ahead; rows must not be in the future.
      const currentMinute = Math.floor(now().getTime() / minuteMs);
      return readReport(data).map(([company, key, bucket, minute, ...sums]) => [
        company,
        key,
        bucket,
        Math.min(minute, currentMinute),
        ...sums,
      ]);
    },
    nameOf: (count) => count.slice(0, 4).join(' '),
    merge: ([company, key, bucket, minute, answered, limited, failed], [, , , , ...more]) => [
      company,
      key,
      bucket,
      minute,
      answered + more[0],
      limited + more[1],
      failed + more[2],
    ],
    companyOf: ([company]) => company,
    write: addCounts,
  });

export interface RequestCountsOptions {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => Date;
}

const readReport = (data: Uint8Array): RequestReport => {
  const counts = JSON.parse(Buffer.from(data).toString()) as RequestReport;
  if (!Array.isArray(counts) || !counts.every(isCount)) throw new Error('not a list of request counts');
  return counts;
};

const isCount = (count: unknown): boolean =>
  Array.isArray(count) &&
  count.length === 7 &&
  (buckets as readonly unknown[]).includes(count[2]) &&
  count.every((value, at) => at === 2 || (Number.isSafeInteger(value) && value >= 0));

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
