import { setTimeout as sleep } from 'node:timers/promises';
import { isRowRefused } from './errors.ts';
import type { Database } from './handle.ts';
import { byShard } from './shards.ts';

export interface BatchWriterOptions<DB, Row, Result> {
  readonly db: Database<DB>;
  readonly companyOf: (row: Row) => number;
  readonly write: (rows: readonly Row[], db: Database<DB>) => Promise<Result>;
  /** The pause after the nth passing failure of these rows; undefined gives up. */
  readonly pauseMs: (failures: number, error: unknown, rows: readonly Row[]) => number | undefined;
  readonly onRefused: (row: Row, error: unknown) => void;
}

/**
 * Makes a function that writes rows of any companies, those of each shard in one transaction. A batch with a row that the
 * database refuses is halved, so that only the rows at fault are not written. After any other failure it is retried.
 * @returns the results of the transactions.
 * @throws a passing failure after which `pauseMs` gave up.
 */
export const createBatchWriter = <DB, Row, Result>(
  options: BatchWriterOptions<DB, Row, Result>,
): ((rows: readonly Row[]) => Promise<readonly Result[]>) => {
  const { db, companyOf, write, pauseMs, onRefused } = options;
  const writeAll = async (rows: readonly Row[]): Promise<readonly Result[]> =>
    (await byShard(db, rows, companyOf, writeShard)).flat();
  const writeShard = async (rows: readonly Row[], shard: Database<DB>): Promise<readonly Result[]> => {
    for (let failures = 1; ; failures++) {
      try {
        return [await write(rows, shard)];
      } catch (error) {
        if (isRowRefused(error)) return await halve(rows, error);
        const waitMs = pauseMs(failures, error, rows);
        if (waitMs === undefined) throw error;
        await sleep(waitMs);
      }
    }
  };
  const halve = async (rows: readonly Row[], error: unknown): Promise<readonly Result[]> => {
    if (rows.length === 1) {
      onRefused(rows[0]!, error);
      return [];
    }
    const half = rows.length >> 1;
    return [...(await writeAll(rows.slice(0, half))), ...(await writeAll(rows.slice(half)))];
  };
  return writeAll;
};
