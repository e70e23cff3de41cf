import { type KeyUse, keyUsedSubject } from '@causeway/proto';
import type { Bus, Database, Log } from '@causeway/runtime';
import { gatherReports, type ReportWriter } from '../gather-reports.ts';
import type { AccessTables } from '../schema.ts';

const minuteMs = 60_000;

/**
 * Keeps `last_used_utc` from the gateways' reports.
 * The time never precedes the key's creation and only moves forward, whatever order reports come in and whoever writes them; a clock that is
 * ahead is cut to the present minute, or it would hold the time still until the present catches up.
 * A revoked key takes only what was used before its end: reports come seconds later, and the last use of a
 * key that was revoked for cause is what somebody will ask for.
 */
export const recordKeyUses = ({ bus, db, log, now }: KeyUsesOptions): ReportWriter =>
  gatherReports<KeyUse>({
    bus,
    log,
    subject: keyUsedSubject,
    what: 'last uses',
    read: readReport,
    add: (gathered, [keyId, companyId, reported]) => {
      const minute = Math.min(reported, Math.floor(now().getTime() / minuteMs));
      const known = gathered.get(`${keyId}`);
      if (known === undefined || known[2] < minute) gathered.set(`${keyId}`, [keyId, companyId, minute]);
    },
    write: (uses) => writeUses(db, uses),
  });

export interface KeyUsesOptions {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly now: () => Date;
}

const readReport = (data: Uint8Array): readonly KeyUse[] => {
  const uses = JSON.parse(Buffer.from(data).toString()) as KeyUse[];
  const isUse = (use: unknown) => Array.isArray(use) && use.length === 3 && use.every(isPositive);
  if (!Array.isArray(uses) || !uses.every(isUse)) throw new Error('not a list of [key, company, minute]');
  return uses;
};

const isPositive = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

/** One statement for each minute, in the order of the key, so that two writers queue up. */
const writeUses = async (db: Database<AccessTables>, uses: readonly KeyUse[]): Promise<void> => {
  for (const [minute, ofMinute] of Map.groupBy(uses, (use) => use[2])) {
    const used = new Date(minute * minuteMs);
    const keys = ofMinute.toSorted((a, b) => a[1] - b[1] || a[0] - b[0]);
    await db
      .updateTable('api_keys')
      // A use is reported to the minute, which may have begun before the key was created.
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
