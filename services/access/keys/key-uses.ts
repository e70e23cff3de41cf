import { type KeyUse, keyUsedSubject } from '@causeway/proto';
import type { Bus, Database, Log, Metrics } from '@causeway/runtime';
import { gatherReports, type ReportWriter } from '../gather-reports.ts';
import type { AccessTables } from '../schema.ts';

const minuteMs = 60_000;

/**
 * Stores `last_used_utc` from the gateways' reports.
 * The time never precedes the key's creation and only moves forward, whatever order reports arrive in and whichever
 * replica writes them. A minute in the future is cut to the current one, or the time would stand still until then. A
 * revoked key only takes uses from before it was revoked: reports come seconds later, and after a leak somebody will
 * ask for its last use.
 */
export const recordKeyUses = ({ bus, db, log, metrics, now }: KeyUsesOptions): ReportWriter =>
  gatherReports<KeyUse>({
    bus,
    db,
    log,
    metrics,
    subject: keyUsedSubject,
    what: 'last uses',
    read: (data) => {
      const currentMinute = Math.floor(now().getTime() / minuteMs);
      return readReport(data).map(([key, company, minute]) => [
        key,
        company,
        Math.min(minute, currentMinute),
      ]);
    },
    nameOf: ([key]) => `${key}`,
    merge: (known, use) => (known[2] < use[2] ? use : known),
    companyOf: ([, company]) => company,
    write: writeUses,
  });

export interface KeyUsesOptions {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => Date;
}

const readReport = (data: Uint8Array): readonly KeyUse[] => {
  const uses = JSON.parse(Buffer.from(data).toString()) as KeyUse[];
  const isUse = (use: unknown) => Array.isArray(use) && use.length === 3 && use.every(isPositive);
  if (!Array.isArray(uses) || !uses.every(isUse)) throw new Error('not a list of [key, company, minute]');
  return uses;
};

const isPositive = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

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
