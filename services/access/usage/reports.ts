import { isIP } from 'node:net';
import { type Bucket, buckets, type LoggedRequest, requestsLoggedSubject } from '@causeway/proto';
import { type Bus, type Database, isNotice, type Log, type Metrics } from '@causeway/runtime';
import { sql } from 'kysely';
import { z } from 'zod';
import type { AccessTables } from '../schema.ts';
import { openRequestLog } from './request-log.ts';
import { createRowWriter, type RowWriter } from './row-writer.ts';

const minuteMs = 60_000;
/** MySQL has no later times. */
const lastMs = Date.UTC(9999, 11, 31);

/**
 * Writes what gateways report of requests: the request log, the last use of each key, and the use of its limits. The replicas
 * are a queue group.
 */
export const recordRequests = (options: ReportsOptions): { drain(): Promise<void> } => {
  const { bus, log } = options;
  const requestLog = openRequestLog(options);
  const uses = recordKeyUses(options);
  const counts = recordCounts(options);
  const subscription = bus.nc.subscribe(requestsLoggedSubject, {
    queue: 'access',
    callback: (error, message) => {
      if (error || !isNotice(message)) return;
      try {
        for (const row of requestRows.parse(JSON.parse(message.string()))) {
          requestLog.take(row);
          uses.take(row);
          counts.take(row);
        }
      } catch (cause) {
        log.error({ error: cause }, 'report of requests cannot be read');
      }
    },
  });
  return {
    drain: async () => {
      subscription.unsubscribe();
      for (const { drain } of [uses, counts, requestLog]) await drain();
    },
  };
};

export interface ReportsOptions {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => Date;
  /** How long uses and counts wait for others of their key. */
  readonly gatherMs: number;
}

const whole = z.int().nonnegative();

/** One wrong value would fail the statement for all rows. */
const requestRows: z.ZodType<LoggedRequest[]> = z.array(
  z.tuple([
    ...([whole, whole, whole.lt(lastMs), whole] as const),
    z.string().regex(/^[\w /]{0,64}$/),
    z.string().regex(/^[A-Z_]{1,10}$/),
    z.string().regex(/^[\d,]{0,64}$/),
    ...([whole.lt(2 ** 31), whole.lt(2 ** 31)] as const),
    z.string().regex(/^[\w.~:+/=-]{0,128}$/),
    z.string().refine((address) => address === '' || isIP(address) > 0),
    z.literal([0, 1]),
    z.literal([...buckets, '', null]),
    whole.lt(2 ** 31),
  ]),
);

/** A gateway's clock may be ahead; rows must not be in the future. */
const minuteOf = ({ now }: ReportsOptions, utcMs: number): number =>
  Math.floor(Math.min(utcMs, now().getTime()) / minuteMs);

interface KeyUse {
  readonly keyId: number;
  readonly companyId: number;
  readonly minute: number;
}

/**
 * `last_used_utc` never precedes the key's creation and only moves forward, whatever the order of reports and
 * replicas. A revoked key only takes uses from before it was revoked: reports come late, and after a leak somebody will
 * ask for its last use.
 */
const recordKeyUses = (options: ReportsOptions): RowWriter<LoggedRequest> => {
  const writer = createRowWriter<KeyUse>({
    ...options,
    what: 'last uses',
    nameOf: ({ keyId, companyId }) => `${keyId} ${companyId}`,
    merge: (known, use) => (known.minute < use.minute ? use : known),
    companyOf: ({ companyId }) => companyId,
    write: writeUses,
  });
  /** By key. Each minute of a key is written once. */
  const taken = new Map<string, number>();
  return {
    take: (row) => {
      const [companyId, keyId, utcMs] = row;
      const minute = minuteOf(options, utcMs);
      const name = `${companyId} ${keyId}`;
      if (bucketOf(row) === null || (taken.get(name) ?? 0) >= minute) return;
      if (taken.size === maxTaken) taken.clear();
      taken.set(name, minute);
      writer.take({ keyId, companyId, minute });
    },
    drain: writer.drain,
  };
};

const maxTaken = 100_000;

/** One statement per minute, rows in key order, so that concurrent writers queue instead of deadlocking. */
const writeUses = async (db: Database<AccessTables>, uses: readonly KeyUse[]): Promise<void> => {
  for (const [minute, ofMinute] of Map.groupBy(uses, (use) => use.minute)) {
    const used = new Date(minute * minuteMs);
    const keys = ofMinute.toSorted((a, b) => a.companyId - b.companyId || a.keyId - b.keyId);
    await db
      .updateTable('api_keys')
      // Uses are reported by the minute, which may have begun before the key was created.
      .set(({ fn, val }) => ({ last_used_utc: fn<Date>('GREATEST', ['created_utc', val(used)]) }))
      .where(({ eb, refTuple, tuple }) =>
        eb(
          refTuple('company_id', 'id'),
          'in',
          keys.map(({ companyId, keyId }) => tuple(companyId, keyId)),
        ),
      )
      .where((eb) => eb.or([eb('revoked_utc', 'is', null), eb('revoked_utc', '>=', used)]))
      .where((eb) => eb.or([eb('last_used_utc', 'is', null), eb('last_used_utc', '<', used)]))
      .execute();
  }
};

/** In one minute (Unix time in minutes). */
interface RequestCount {
  readonly companyId: number;
  readonly keyId: number;
  readonly bucket: Bucket;
  readonly minute: number;
  readonly answered: number;
  readonly limited: number;
  readonly failed: number;
}

const recordCounts = (options: ReportsOptions): RowWriter<LoggedRequest> => {
  const writer = createRowWriter<RequestCount>({
    ...options,
    what: 'request counts',
    nameOf: ({ companyId, keyId, bucket, minute }) => `${companyId} ${keyId} ${bucket} ${minute}`,
    merge: (sum, more) => ({
      ...sum,
      answered: sum.answered + more.answered,
      limited: sum.limited + more.limited,
      failed: sum.failed + more.failed,
    }),
    companyOf: ({ companyId }) => companyId,
    write: addCounts,
  });
  return {
    take: (row) => {
      const bucket = bucketOf(row);
      const [companyId, keyId, utcMs, , , , , status] = row;
      if (!bucket || status === clientGone) return;
      const requests = row[13];
      const isLimited = status === 429;
      writer.take({
        ...{ companyId, keyId, bucket, minute: minuteOf(options, utcMs) },
        answered: isLimited ? 0 : requests,
        limited: isLimited ? requests : 0,
        failed: status >= 500 ? requests : 0,
      });
    },
    drain: writer.drain,
  };
};

/** Nobody was answered. */
const clientGone = 499;

const bucketOf = (row: LoggedRequest): Bucket | '' | null => row[12];

const addCounts = async (db: Database<AccessTables>, counts: readonly RequestCount[]): Promise<void> => {
  const rows = counts
    .map(({ companyId, keyId, minute, ...counted }) => ({
      company_id: companyId,
      minute_utc: new Date(minute * minuteMs),
      key_id: keyId,
      ...counted,
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
