import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mysql2/promise';
import { makeRoom, useOwnIds } from './ids.ts';
import { actedOn, park, unpark } from './park.ts';
import { inTransaction, lockCompany, MoveError, rowsOf, type Table, tablesOf } from './sql.ts';
import { syncTable } from './sync.ts';

/** The databases of the two cells. */
export interface Cells {
  readonly from: Connection;
  readonly to: Connection;
  readonly say: (line: string) => void;
}

/**
 * How long after its closing a company may still be written to: the longest deadline of a request is 15 s, and gateways
 * report what they counted within 10 s.
 */
const quietAfterSeconds = 20;
const drainTimeoutMs = 120_000;
const drainPauseMs = 200;
const maxPasses = 10;

/**
 * Prepares the empty database of a new cell: it assigns ids of its own, and reads the cursors that another cell has
 * given to readers of the event log.
 */
export const prepareCell = async ({ from, to, say }: Cells, cell: number): Promise<void> => {
  await requireSameSchema({ from, to });
  const [companies] = await rowsOf(to, 'SELECT COUNT(*) AS n FROM companies');
  if (Number(companies?.n) > 0) throw new MoveError('the new cell has companies already');
  for (const [table, next] of Object.entries(await useOwnIds(to, cell)))
    say(`${table} begins with id ${next}`);
  const sealed = await rowsOf(from, 'SELECT name, sealed FROM sealed_keys');
  if (sealed.length === 0)
    throw new MoveError(
      'the other cell has no key for cursors yet: read a page of GET /events that has a next one',
    );
  for (const row of sealed)
    await to.query('REPLACE INTO sealed_keys (name, sealed) VALUES (?, ?)', [row.name, row.sealed]);
};

/**
 * Copies a company. While it is open, only what no service acts on: run it again until little is left, close the
 * company, and run it a last time. That one waits until nobody works on the company any more, copies what has changed,
 * compares everything, and hands the company over. Interrupted, it may be run again at any time.
 */
export const copyCompany = async (cells: Cells, companyId: number, cell: number): Promise<void> => {
  const { from, to, say } = cells;
  await lockInBoth(cells, companyId);
  await requireSameSchema(cells);
  const company = await companyOf(from, companyId);
  if (!company) throw new MoveError(`there is no company ${companyId} to move`);
  const there = await companyOf(to, companyId);
  if (there && there.version > company.version) {
    say(`company ${companyId} was handed over already; open it in its new cell`);
    return;
  }
  if (there && !there.closed) throw new MoveError(`company ${companyId} is open in the other cell`);
  const tables = await tablesOf(from);
  if (!company.closed) {
    const rows = await copyTables(
      cells,
      cell,
      companyId,
      tables.filter(({ name }) => !actedOn.has(name)),
    );
    say(`${rows} rows copied; the company is still open. Close it and run this again to hand it over`);
    return;
  }
  await waitUntilQuiet(cells, companyId);
  const moving = tables.filter(({ name }) => name !== 'companies');
  for (let pass = 1; ; pass++) {
    const rows = await copyTables(cells, cell, companyId, moving);
    if (rows === 0) break;
    say(`${rows} rows copied`);
    if (pass === maxPasses) throw new MoveError('the rows still change: does anything write to the company?');
  }
  await handOver(cells, companyId, cell);
  say(`company ${companyId} was handed over; open it in its new cell`);
};

/** Undoes the beginning of a move that was not handed over; the company can be opened again where it was. */
export const cancelMove = async (cells: Cells, companyId: number): Promise<void> => {
  const { from, to, say } = cells;
  await lockInBoth(cells, companyId);
  const [company, there] = [await companyOf(from, companyId), await companyOf(to, companyId)];
  if (!company) throw new MoveError(`there is no company ${companyId}`);
  if (there && there.version > company.version)
    throw new MoveError(`company ${companyId} was handed over; move it back instead`);
  await inTransaction(from, () => unpark(from, companyId));
  say(`company ${companyId} can be opened where it was`);
};

/**
 * Deletes the rows that a company left behind, or that a cancelled move copied. The row in `companies` stays, so that its
 * id is never assigned again.
 */
export const dropCompany = async (cells: Cells, companyId: number): Promise<void> => {
  const { from, to, say } = cells;
  await lockInBoth(cells, companyId);
  const [company, there] = [await companyOf(from, companyId), await companyOf(to, companyId)];
  if (company && !company.closed)
    throw new MoveError(`company ${companyId} is not closed in the cell that it has left`);
  if (!there || there.closed || there.version <= (company?.version ?? 0))
    throw new MoveError(`company ${companyId} is not open in the other cell`);
  const [left, now] = [await lastSequence(from, companyId), await lastSequence(to, companyId)];
  if (left > now)
    throw new MoveError(`${left - now} events were written here after the move; nothing was deleted`);
  say(`${await deleteRows(from, companyId)} rows deleted`);
};

const deleteRows = async (connection: Connection, companyId: number): Promise<number> => {
  let rows = 0;
  for (const { name } of await tablesOf(connection)) {
    if (name === 'companies') continue;
    for (let deleted = deletedAtOnce; deleted === deletedAtOnce; await sleep(deletePauseMs)) {
      const [result] = await connection.query('DELETE FROM ?? WHERE company_id = ? LIMIT ?', [
        name,
        companyId,
        deletedAtOnce,
      ]);
      deleted = (result as { affectedRows: number }).affectedRows;
      rows += deleted;
    }
  }
  return rows;
};

const deletedAtOnce = 500;
const deletePauseMs = 20;

const lockInBoth = async ({ from, to }: Cells, companyId: number): Promise<void> => {
  await lockCompany(from, companyId);
  await lockCompany(to, companyId);
};

interface Company {
  readonly closed: boolean;
  readonly version: number;
}

const companyOf = async (connection: Connection, companyId: number): Promise<Company | undefined> => {
  const [row] = await rowsOf(
    connection,
    'SELECT version, closed_utc IS NOT NULL AS closed FROM companies WHERE company_id = ?',
    [companyId],
  );
  return row && { closed: Number(row.closed) === 1, version: Number(row.version) };
};

const lastSequence = async (connection: Connection, companyId: number): Promise<number> => {
  const [row] = await rowsOf(
    connection,
    'SELECT last_sequence AS last FROM event_sequences WHERE company_id = ?',
    [companyId],
  );
  return Number(row?.last ?? 0);
};

const requireSameSchema = async ({ from, to }: Pick<Cells, 'from' | 'to'>): Promise<void> => {
  const of = async (connection: Connection): Promise<string> =>
    JSON.stringify((await tablesOf(connection)).map(({ name, columns }) => [name, ...columns]));
  if ((await of(from)) !== (await of(to)))
    throw new MoveError('the cells have different tables: bring both to the same release first');
};

const copyTables = async (
  { from, to, say }: Cells,
  cell: number,
  companyId: number,
  tables: readonly Table[],
): Promise<number> => {
  let rows = 0;
  for (const table of tables) {
    if (table.id !== undefined) {
      const [row] = await rowsOf(from, 'SELECT MAX(??) AS largest FROM ?? WHERE company_id = ?', [
        table.id,
        table.name,
        companyId,
      ]);
      const next = await makeRoom(to, cell, table, Number(row?.largest ?? 0));
      if (next !== undefined) say(`${table.name} continues with id ${next}`);
    }
    rows += await syncTable(from, to, table, companyId);
  }
  return rows;
};

const waitUntilQuiet = async ({ from, say }: Cells, companyId: number): Promise<void> => {
  for (;;) {
    const [row] = await rowsOf(
      from,
      `SELECT GREATEST(0, ${quietAfterSeconds} - TIMESTAMPDIFF(SECOND, closed_utc, UTC_TIMESTAMP(3))) AS seconds
       FROM companies WHERE company_id = ?`,
      [companyId],
    );
    if (Number(row?.seconds ?? 0) === 0) break;
    await park(from, companyId);
    await sleep(500);
  }
  for (const endMs = Date.now() + drainTimeoutMs; ; await sleep(drainPauseMs)) {
    const busy = await park(from, companyId);
    if (busy.length === 0) break;
    if (Date.now() > endMs) throw new MoveError(`still under way: ${busy.join(', ')}`);
  }
  say(`nobody works on company ${companyId} any more`);
};

/** In one transaction: from its commit on, the new cell's dispatchers deliver, and this program changes nothing. */
const handOver = async ({ from, to, say }: Cells, companyId: number, cell: number): Promise<void> => {
  const companies = (await tablesOf(to)).find(({ name }) => name === 'companies')!;
  const next = await makeRoom(to, cell, companies, companyId);
  if (next !== undefined)
    say(`companies continues with id ${next}: give CELLS that range before you create one`);
  const [row] = await rowsOf(from, 'SELECT * FROM companies WHERE company_id = ?', [companyId]);
  await inTransaction(to, async () => {
    await to.query('REPLACE INTO companies SET ?', [{ ...row, version: Number(row?.version) + 1 }]);
    await unpark(to, companyId);
  });
};
