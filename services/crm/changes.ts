import { changesForgotten, contract, deletionsKeptDays, Problem, type RecordType } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { CrmContext } from './context.ts';
import { openCursor, sealCursor } from './cursors.ts';
import { hasUnfinishedErasure } from './erasures.ts';
import { type ChangeRow, createNumbering } from './number-changes.ts';
import { leastConsidered, maxPageLength, readRecords, type ShownRecord, untilFilled } from './records.ts';
import type { Tables } from './tables.ts';

/** Pages through `record_changes` (contract, "Changes"), once the company's changes are numbered. */
export const listChanges = ({ db }: CrmContext) => {
  const readNumbered = createNumbering(db);
  return handler(contract.listChanges, async ({ companyId, query }) => {
    const { types, limit } = query;
    const list = `changes ${types.join()}`;
    const isLatest = query.cursor === 'latest';
    const [from = 0, day = today()] =
      query.cursor && !isLatest ? openCursor(companyId, list, query.cursor, 2) : [];
    if (today() - day > deletionsKeptDays)
      throw new Problem({ code: 'cursor_expired', publicMessage: changesForgotten });
    const most = Math.max(limit, leastConsidered);
    const readFrom = async (after: number) => {
      let isErasing = false;
      const { rows, last, isUnfinished } = await readNumbered(companyId, async (numbered) => {
        isErasing = await hasUnfinishedErasure(numbered, companyId);
        return isLatest ? [] : selectChanges(numbered, companyId, after, most + 1);
      });
      if (isLatest) return { entries: [], place: last, hasMore: isUnfinished };
      const considered = rows.slice(0, most);
      const selected = considered.filter(({ type }) => types.includes(type));
      const page = await readPage(db, companyId, selected, limit);
      const place = page.after ?? considered.at(-1)?.sequence ?? after;
      // Numbers beyond the moment are those of deletions that came between.
      const hasMore = page.hasMore || rows.length > most || isUnfinished || isErasing || place > last;
      return { entries: page.entries, place, hasMore };
    };
    const { entries, place, hasMore } = await untilFilled(from, readFrom, isLatest ? latestMs : undefined);
    const nextCursor = sealCursor(companyId, list, [place, today()]);
    return {
      status: 200,
      body: `{"changes":[${entries.join()}],"nextCursor":"${nextCursor}","hasMore":${hasMore}}`,
    };
  });
};

/** Less than the deadline: what has never been read gets its numbers first. */
const latestMs = 4_000;

const today = (): number => Math.floor(Date.now() / 86_400_000);

const selectChanges = (db: Kysely<Tables>, companyId: number, after: number, most: number) =>
  db
    .selectFrom('record_changes')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(most)
    .execute();

interface ChangesPage {
  /** As JSON. */
  readonly entries: readonly string[];
  /** The number of the last entry, if the page ends before the last of the rows. */
  readonly after?: number;
  readonly hasMore: boolean;
}

const readPage = async (
  db: Kysely<Tables>,
  companyId: number,
  changeRows: readonly ChangeRow[],
  limit: number,
): Promise<ChangesPage> => {
  const entries: string[] = [];
  let bytes = 0;
  let hasChanged = false;
  for (let at = 0; at < changeRows.length; at += rowsAtOnce) {
    const rows = changeRows.slice(at, at + rowsAtOnce);
    const records = await recordsOf(db, companyId, rows);
    for (const [offset, row] of rows.entries()) {
      const record = records.get(row);
      // The record was changed after the rows were read: it comes again, at a number that this page has not seen.
      if (record?.version !== row.version && row.is_deleted === 0) {
        hasChanged = true;
        continue;
      }
      const entry = JSON.stringify(entryOf(row, record));
      entries.push(entry);
      bytes += entry.length;
      const isLast = at + offset + 1 === changeRows.length;
      if (!isLast && (entries.length === limit || bytes > maxPageLength))
        return { entries, after: row.sequence, hasMore: true };
    }
  }
  return { entries, hasMore: hasChanged };
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
