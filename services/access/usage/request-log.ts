import {
  basePath,
  bySystem,
  contract,
  keyOperations,
  type LoggedRequest,
  notFound,
  type Scope,
} from '@causeway/proto';
import { type Database, handler, json, type Metrics, type Repeated, startRetention } from '@causeway/runtime';
import { sql } from 'kysely';
import { noteRefused } from '../audit.ts';
import type { Access } from '../context.ts';
import { selectKey } from '../rows.ts';
import type { AccessTables } from '../schema.ts';
import { createRowWriter, type RowWriter } from './row-writer.ts';

const keptDays = 7;
/** Rows that one answer looks through, however busy the key is. */
const scannedRows = 20_000;
const hourMs = 3_600_000;

export const openRequestLog = (options: LogOptions): RowWriter<LoggedRequest> =>
  createRowWriter<LoggedRequest>({
    ...options,
    what: 'request log',
    // A person may be waiting for the first one.
    gatherMs: 250,
    nameOf: (row) => row.slice(0, 4).join(' '),
    merge: (known) => known,
    companyOf: ([company]) => company,
    write: async (db, rows) => {
      await addRequests(db, rows);
      noteRefusedNetworks(options, rows);
    },
  });

type LogOptions = Pick<Access, 'db' | 'log' | 'now'> & { readonly metrics: Metrics };

const addRequests = async (db: Database<AccessTables>, rows: readonly LoggedRequest[]): Promise<void> => {
  await db
    .insertInto('request_log')
    .ignore()
    .values(
      rows.map((row) => ({
        company_id: row[0],
        key_id: row[1],
        created_utc: new Date(row[2]),
        serial: row[3],
        operation: row[4],
        method: row[5],
        ids: row[6],
        status: Math.min(row[7], 999),
        duration_ms: row[8],
        request_id: row[9],
        address: row[10],
        is_previous: row[11],
        requests: row[13],
      })),
    )
    .execute();
};

/** A request that was refused before its operation was known has an address from which the key may not be used. */
const noteRefusedNetworks = ({ db, log, now }: LogOptions, rows: readonly LoggedRequest[]): void => {
  const refused = rows.filter((row) => row[4] === '' && row[7] === 403);
  for (const rows of Map.groupBy(refused, (row) => row.slice(0, 2).join(' ')).values()) {
    const [companyId, keyId, , , , , , , , requestId, address] = rows.at(-1)!;
    const by = { ...bySystem, address: address || null, requestId: requestId || null };
    const times = rows.reduce((sum, row) => sum + Math.max(row[13], 1), 0);
    const author = { companyId, by, at: now() };
    noteRefused({ db, log }, author, 'key.network_refused', ['key', keyId, `API key ${keyId}`], times);
  }
};

export const startRequestLogRetention = (options: LogOptions): Repeated =>
  startRetention({ ...options, tables: ['request_log'], lock: 'request log', days: keptDays });

const logOf = ({ db, now }: Access, companyId: number, keyId: number) =>
  db
    .selectFrom('request_log')
    .where('company_id', '=', companyId)
    .where('key_id', '=', keyId)
    .where('created_utc', '>=', new Date(now().getTime() - keptDays * 24 * hourMs));

export const listKeyRequests = (access: Access) =>
  handler(contract.listKeyRequests, async (call) => {
    const { companyId, query } = call;
    const { limit, cursor, status } = query;
    const keyId = call.id('key');
    const [beforeMs, beforeSerial] = await access.cursors.open(companyId, 'requests', cursor);
    let found = logOf(access, companyId, keyId).orderBy('created_utc', 'desc').orderBy('serial', 'desc');
    if (beforeMs !== undefined)
      found = found.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_utc', 'serial'), '<', tuple(new Date(beforeMs), beforeSerial!)),
      );
    const floor =
      status === undefined
        ? undefined
        : await found.select(['created_utc', 'serial']).offset(scannedRows).limit(1).executeTakeFirst();
    if (status !== undefined)
      found = found.where('status', '>=', status * 100).where('status', '<', status * 100 + 100);
    if (floor) found = found.where('created_utc', '>', floor.created_utc);
    const rows = await found
      .selectAll()
      .limit(limit + 1)
      .execute();
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : floor;
    const place = last && [last.created_utc.getTime(), last.serial];
    return json(200, {
      requests: page.map((row) => ({
        utc: shownTime(access, row),
        method: row.method,
        path: pathOf(row.operation, row.ids),
        status: row.status,
        durationMs: row.duration_ms,
        requestId: row.request_id || null,
        address: row.address || null,
        isPrevious: row.is_previous === 1,
        requests: row.requests,
      })),
      ...(await access.cursors.pageEnd(companyId, 'requests', place)),
    });
  });

/** The clock of a gateway may be ahead. */
const shownTime = ({ now }: Access, { created_utc }: { readonly created_utc: Date }): string =>
  new Date(Math.min(created_utc.getTime(), now().getTime())).toISOString();

const operations: ReadonlyMap<string, { readonly path: string; readonly scope: Scope | null }> = new Map(
  keyOperations.map(({ id, path, scope }) => [id, { path, scope }]),
);

/** With the ids that were kept, others in braces. Null: no operation has the path, or another release has it. */
export const pathOf = (operation: string, ids: string): string | null => {
  if (operation.startsWith('mcp')) return '/mcp';
  const path = operations.get(operation)?.path;
  const values = ids.split(',');
  return path === undefined ? null : basePath + path.replace(/\{\w+\}/g, (name) => values.shift() || name);
};

/** Counts in the latest rows, with the time since when: all of seven days, unless the key is very busy. */
export const getKeyUse = (access: Access) =>
  handler(contract.getKeyUse, async (call) => {
    const { companyId } = call;
    const keyId = call.id('key');
    await selectKey(access.db, companyId, keyId)
      .select('id')
      .executeTakeFirstOrThrow(() => notFound('key'));
    const nowMs = access.now().getTime();
    const rows = logOf(access, companyId, keyId);
    const floor = await rows
      .select('created_utc')
      .orderBy('created_utc', 'desc')
      .offset(scannedRows)
      .limit(1)
      .executeTakeFirst();
    const since = floor?.created_utc ?? new Date(nowMs - keptDays * 24 * hourMs);
    const recent = rows.where('created_utc', '>=', since);
    const latest = (which: readonly number[]) =>
      recent
        .select(['created_utc', 'address'])
        .where('is_previous', 'in', which)
        .where('address', '!=', '')
        .orderBy('created_utc', 'desc')
        .limit(1)
        .executeTakeFirst();
    const counts = await recent
      .select(['operation', sql<number>`SUM(requests)`.as('requests')])
      .where('status', '<', 400)
      .groupBy('operation')
      .execute();
    const [last, previous] = [await latest([0, 1]), await latest([1])];
    const hour = await recent
      .select(sql<number>`COALESCE(SUM(requests), 0)`.as('requests'))
      .where('is_previous', '=', 1)
      .where('created_utc', '>=', new Date(nowMs - hourMs))
      .executeTakeFirst();
    const use = (row: { created_utc: Date; address: string } | undefined) =>
      row ? { utc: shownTime(access, row), address: row.address } : null;
    const byScope = Map.groupBy(counts, ({ operation }) => operations.get(operation)?.scope ?? null);
    return json(200, {
      sinceUtc: since.toISOString(),
      last: use(last),
      previous: use(previous),
      previousInLastHour: Number(hour?.requests ?? 0),
      scopes: [...byScope].flatMap(([scope, own]) =>
        scope === null
          ? []
          : [{ scope, requests: own.reduce((total, { requests }) => total + Number(requests), 0) }],
      ),
    });
  });
