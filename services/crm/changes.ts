import { changesForgotten, contract, deletionsKeptDays, Problem, type RecordType } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { Kysely, Selectable } from 'kysely';
import type { CrmContext } from './context.ts';
import { openCursor, sealCursor } from './cursors.ts';
import { hasUnfinishedErasure } from './erasures.ts';
import { createNumbering } from './number-changes.ts';
import { leastConsidered, maxPageLength, readRecords, type ShownRecord } from './records.ts';
import type { Tables } from './tables.ts';

/** Pages through `record_changes` (contract, "Changes"), once the company's changes are numbered. */
export const listChanges = ({ db }: CrmContext) => {
  const numberChanges = createNumbering(db);
  return handler(contract.listChanges, async ({ companyId, keyId, query }) => {
    const { types, limit, exclude_origin } = query;
    const list = `changes ${types.join()}`;
    const [after = 0, day = today()] = query.cursor ? openCursor(companyId, list, query.cursor, 2) : [];
    if (today() - day > deletionsKeptDays)
      throw new Problem({ code: 'cursor_expired', publicMessage: changesForgotten });
    const own = exclude_origin === 'self' ? `key:${keyId}` : undefined;
    const isErasing = await hasUnfinishedErasure(db, companyId);
    const isUnfinished = (await numberChanges(companyId)) || isErasing;
    const page = await readPage(
      db,
      companyId,
      after,
      limit,
      ({ type, origin }) => types.includes(type) && origin !== own,
    );
    const nextCursor = sealCursor(companyId, list, [page.after, today()]);
    return {
      status: 200,
      body: `{"changes":[${page.entries.join()}],"nextCursor":"${nextCursor}","hasMore":${page.hasMore || isUnfinished}}`,
    };
  });
};

const today = (): number => Math.floor(Date.now() / 86_400_000);

type ChangeRow = Selectable<Tables['record_changes']>;

interface ChangesPage {
  /** As JSON. */
  readonly entries: readonly string[];
  /** The number of the last change that was considered. */
  readonly after: number;
  readonly hasMore: boolean;
}

const readPage = async (
  db: Kysely<Tables>,
  companyId: number,
  after: number,
  limit: number,
  isWanted: (row: ChangeRow) => boolean,
): Promise<ChangesPage> => {
  const most = Math.max(limit, leastConsidered);
  const found = await db
    .selectFrom('record_changes')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(most + 1)
    .execute();
  const considered = found.slice(0, most);
  const wanted = considered.filter(isWanted);
  const entries: string[] = [];
  let bytes = 0;
  let hasChanged = false;
  for (let at = 0; at < wanted.length; at += rowsAtOnce) {
    const rows = wanted.slice(at, at + rowsAtOnce);
    const records = await recordsOf(db, companyId, rows);
    for (const [offset, row] of rows.entries()) {
      const record = records.get(row);
      // The record was changed after `found` was read: it comes again, at a number that this page has not seen.
      if (record?.version !== row.version && row.is_deleted === 0) {
        hasChanged = true;
        continue;
      }
      const entry = JSON.stringify(entryOf(row, record));
      entries.push(entry);
      bytes += entry.length;
      const isLast = at + offset + 1 === wanted.length;
      if (!isLast && (entries.length === limit || bytes > maxPageLength))
        return { entries, after: row.sequence, hasMore: true };
    }
  }
  return {
    entries,
    after: considered.at(-1)?.sequence ?? after,
    hasMore: found.length > most || hasChanged,
  };
};

const recordsOf = async (db: Kysely<Tables>, companyId: number, rows: readonly ChangeRow[]) => {
  const records = new Map<ChangeRow, ShownRecord>();
  const living = rows.filter(({ is_deleted }) => is_deleted === 0);
  const ofTypes = [...Map.groupBy(living, ({ type }) => type)] as readonly [
    RecordType,
    readonly ChangeRow[],
  ][];
  await Promise.all(
    ofTypes.map(async ([type, ofType]) => {
      const byId = await readRecords[type](
        db,
        companyId,
        ofType.map(({ record_id }) => record_id),
      );
      for (const row of ofType) {
        const record = byId.get(row.record_id);
        if (record) records.set(row, record);
      }
    }),
  );
  return records;
};

const entryOf = (row: ChangeRow, record: ShownRecord | undefined) => ({
  sequence: row.sequence,
  type: row.type,
  id: row.record_id,
  operation: row.is_deleted === 1 ? 'delete' : 'upsert',
  origin: row.origin,
  version: row.version,
  external_id: record?.external_id ?? null,
  changed_utc: row.changed_utc,
  record: record ?? null,
});

/** Notes can be long: as many records are in memory at once. */
const rowsAtOnce = 250;
