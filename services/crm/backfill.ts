import { type RecordType, recordTypes } from '@causeway/proto';
import {
  acrossTenants,
  type Database,
  type Log,
  type Repeated,
  repeat,
  type Trx,
  tenantIs,
  transaction,
} from '@causeway/runtime';
import { type RawBuilder, sql } from 'kysely';
import { type ChangedRecord, type EventLog, recordKeys } from './events/event-log.ts';
import { affiliateRoleId, type Tables } from './tables.ts';

/**
 * Adds what the changes miss: records of earlier releases, and writes of their replicas during a rollout, which raise no
 * version. A pass reads every record, so passes are rare; replicas may make them at once.
 */
export const startBackfill = ({ db, events, log }: BackfillOptions): Repeated => {
  let passes = 0;
  return repeat(
    async () => {
      const noted = await backfill(db, events);
      if (noted > 0) log.info({ noted }, 'changes of earlier records noted');
      passes++;
      return 0;
    },
    {
      // The second pass comes after a rollout.
      pauseMs: () => (passes < 2 ? 10 * 60_000 : 24 * 3_600_000),
      onError: (error) => log.warn({ error }, 'changes of earlier records not noted'),
    },
  );
};

/** @returns the number of records that were missing. */
export const backfill = async (db: Database<Tables>, events: EventLog): Promise<number> => {
  let noted = 0;
  for (const companyId of await companiesWithRecords(db))
    for (const type of recordTypes) noted += await backfillCompany(db, events, companyId, type);
  return noted;
};

const companiesWithRecords = async (db: Database<Tables>): Promise<readonly number[]> => {
  const all = acrossTenants(db, 'the backfill of changes looks at the records of all companies');
  const lists = await Promise.all(
    (['clients', 'employees'] as const).map((table) =>
      all.selectFrom(table).select('company_id').distinct().execute(),
    ),
  );
  return [...new Set(lists.flat().map(({ company_id }) => company_id))];
};

const backfillCompany = async (
  db: Database<Tables>,
  events: EventLog,
  companyId: number,
  type: RecordType,
): Promise<number> => {
  const [table, id] = recordKeys[type];
  const isMissing = (places: RawBuilder<boolean>) => sql<MissingRow>`
    SELECT r.${sql.ref(id)} AS id, r.version, r.updated_utc, c.version AS noted
    FROM ${sql.table(table)} r LEFT JOIN record_changes c
      ON c.company_id = ${tenantIs(companyId)} AND c.type = ${type} AND c.record_id = r.${sql.ref(id)}
    WHERE r.company_id = ${tenantIs(companyId)} AND ${places}
      AND (c.version IS NULL OR c.changed_utc < r.updated_utc)
      ${type === 'affiliate' ? sql`AND r.role_id = ${affiliateRoleId}` : sql``}
    ORDER BY r.${sql.ref(id)} LIMIT ${rowsAtOnce}`;

  let noted = 0;
  for (let after = 0; ; ) {
    const { rows } = await isMissing(sql`r.${sql.ref(id)} > ${after}`).execute(db);
    if (rows.length === 0) return noted;
    after = rows.at(-1)!.id;
    const ids = sql.join(rows.map((row) => row.id));
    noted += await transaction(db, async (trx) => {
      const locked = await sql<MissingRow>`
        ${isMissing(sql`r.${sql.ref(id)} IN (${ids})`)} FOR UPDATE`.execute(trx);
      return note(trx, events, companyId, type, locked.rows);
    });
  }
};

const note = async (
  trx: Trx<Tables>,
  events: EventLog,
  companyId: number,
  type: RecordType,
  rows: readonly MissingRow[],
): Promise<number> => {
  const [table, id] = recordKeys[type];
  const unraised = rows.filter(({ noted }) => noted !== null);
  if (unraised.length > 0)
    await sql`
      UPDATE ${sql.table(table)} r SET r.version = r.version + 1
      WHERE r.company_id = ${tenantIs(companyId)}
        AND r.${sql.ref(id)} IN (${sql.join(unraised.map((row) => row.id))})`.execute(trx);
  const records = rows.map((row) => ({
    type,
    row: {
      company_id: companyId,
      [id]: row.id,
      version: row.version + (row.noted === null ? 0 : 1),
      updated_utc: row.updated_utc,
    },
  })) as readonly object[] as readonly ChangedRecord[];
  await events.write({ trx, now: new Date() }, [{ origin: 'system', events: [], records }]);
  return rows.length;
};

interface MissingRow {
  readonly id: number;
  readonly version: number;
  readonly updated_utc: Date;
  /** The version in the changes; null if they do not have the record. */
  readonly noted: number | null;
}

const rowsAtOnce = 500;

interface BackfillOptions {
  readonly db: Database<Tables>;
  readonly events: EventLog;
  readonly log: Log;
}
