import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { isConnectionLost, isDeadlock, isLockWaitTimeout, isReadOnly } from './errors.ts';
import type { Database, Trx } from './handle.ts';
import { byShard, throughShardSwitch } from './shards.ts';
import { rowList, type Value } from './tenant-raw.ts';

/**
 * Runs `work` in one transaction, and retries it from the start after a deadlock (1213), a lock wait timeout
 * (1205), a connection lost before COMMIT, a server that became read-only, or a shard switch. So `work` must have no effects outside the
 * database except through `onCommit`.
 * @throws CommitOutcomeUnknown if the connection was lost between COMMIT and its answer: the work may be
 * committed.
 * @throws whatever `work` throws, or the last of the above errors when all attempts are used up.
 */
export const transaction = async <DB, Result>(
  db: Database<DB>,
  work: (trx: Trx<DB>) => Promise<Result>,
  { attempts = 5, retriesLockWaits = true }: TransactionOptions = {},
): Promise<Result> => {
  if ((db as Kysely<DB>).isTransaction) {
    throw new Error('a transaction was started inside another; pass the outer one down instead');
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await throughShardSwitch(
        () => attemptOnce(db, work),
        () => db.retried('shard_switch'),
      );
    } catch (error) {
      const reason = retryReason(error);
      const isLast = attempt >= attempts || (reason === 'lock_wait' && (!retriesLockWaits || attempt > 1));
      if (reason === undefined || isLast) throw error;
      db.retried(reason);
      await sleep(backoffMs(attempt));
    }
  }
};

interface TransactionOptions {
  readonly attempts?: number;
  /** Once: two waits are within the deadline of a call. */
  readonly retriesLockWaits?: boolean;
}

const attemptOnce = async <DB, Result>(
  db: Database<DB>,
  work: (trx: Trx<DB>) => Promise<Result>,
): Promise<Result> => {
  const effects: (() => unknown)[] = [];
  const trx = await db.startTransaction().execute();
  const onCommit = (effect: () => unknown) => void effects.push(effect);
  let result: Result;
  try {
    result = await work(Object.assign(trx, { onCommit }));
    await trx.commit().execute();
  } catch (error) {
    await rollBack(trx);
    throw error;
  }
  for (const effect of effects) db.background(effect);
  return result;
};

const rollBack = async (trx: { rollback(): { execute(): Promise<unknown> } }): Promise<void> => {
  try {
    await trx.rollback().execute();
  } catch {}
};

const retryReason = (error: unknown): string | undefined => {
  if (isDeadlock(error)) return 'deadlock';
  if (isLockWaitTimeout(error)) return 'lock_wait';
  if (isReadOnly(error)) return 'read_only';
  return isConnectionLost(error) ? 'connection_lost' : undefined;
};

/** 5–10 ms, doubling: long enough for the winner of a deadlock to commit. */
const backoffMs = (attempt: number): number => 5 * 2 ** (attempt - 1) * (1 + Math.random());

/** Reads the keys first: Vitess cannot plan `DELETE … LIMIT` over shards. @returns how many it deleted */
export const deleteSome = async <DB>(
  db: Database<DB>,
  all: Kysely<DB>,
  options: DeleteSomeOptions<DB>,
): Promise<number> => {
  const { table, key, where, limit } = options;
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const { rows } = await sql<Readonly<Record<string, Value>>>`
    SELECT ${columns} FROM ${sql.table(table)} WHERE ${where} LIMIT ${sql.lit(limit)}`.execute(all);
  if (rows.length === 0) return 0;
  const counts = await byShard(db, rows, companyOf, async (some) => {
    const keys = rowList(some.map((row) => key.map((column) => row[column]!)));
    const { numAffectedRows = 0n } = await sql`
      DELETE /*+ INDEX(${sql.table(table)} PRIMARY) */ FROM ${sql.table(table)}
      WHERE (${columns}) IN (${keys}) AND ${where}`.execute(all);
    return Number(numAffectedRows);
  });
  return counts.reduce((sum, count) => sum + count, 0);
};

const companyOf = ({ company_id = 0 }: Readonly<Record<string, Value>>): number => Number(company_id);

interface DeleteSomeOptions<DB> {
  readonly table: keyof DB & string;
  readonly key: readonly string[];
  readonly where: RawBuilder<SqlBool>;
  readonly limit: number;
}
