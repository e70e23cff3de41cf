import { type CompiledQuery, type Kysely, sql } from 'kysely';
import { shareRun } from '../in-flight.ts';
import { later } from './driver.ts';
import type { Database, Trx } from './handle.ts';
import { acrossTenants } from './tenant-guard.ts';
import type { Value } from './tenant-raw.ts';
import { transaction } from './transaction.ts';

/** Ids that no row has or will get: they are known before their rows are inserted. */
export interface Ids {
  /** Ascending, with gaps. Waits for the database only if the process has too few. */
  take(count: number): Promise<readonly number[]>;
  /** Begins to take ids if the process has none, so that `take` waits shorter. */
  prepare(): void;
}

/**
 * Takes blocks of ids from the counter `<table>_seq`, on Vitess its sequence, and the next block before the present one is used up.
 * A block ends after two seconds, so that the ids of several processes follow the order of time but for as long; what is left of it is
 * never assigned. A busy process takes larger blocks.
 */
export const createIds = <DB>(db: Database<DB>, table: IdTable): Ids => {
  const blocks: Block[] = [];
  let size = leastSize;

  const refill = shareRun(async () => {
    const taken = size;
    const end = db.shards
      ? (await nextOfSequence(db, table, taken)) + taken
      : await transaction(db, (trx) => raiseCounter(trx, table, taken));
    blocks.push({ next: end - taken, end, takenMs: performance.now() });
  });
  /** If it fails, `take` tries again. */
  const begin = (): void => void refill().catch(() => {});
  const present = (): Block | undefined => {
    const oldestMs = performance.now() - maxAgeMs;
    for (let [first] = blocks; first; [first] = blocks) {
      if (first.next < first.end && first.takenMs > oldestMs) return first;
      size = first.next < first.end ? Math.max(size / 2, leastSize) : Math.min(size * 2, mostSize);
      blocks.shift();
    }
    return undefined;
  };
  const isEnding = ({ next, end, takenMs }: Block): boolean =>
    end - next < size / 2 || performance.now() - takenMs > maxAgeMs / 2;

  return {
    take: async (count) => {
      const ids: number[] = [];
      while (ids.length < count) {
        const block = present();
        if (!block) await refill();
        else while (ids.length < count && block.next < block.end) ids.push(block.next++);
      }
      const [last] = blocks.slice(-1);
      if (last && isEnding(last)) begin();
      return ids;
    },
    prepare: () => {
      if (!present()) begin();
    },
  };
};

interface Block {
  next: number;
  readonly end: number;
  readonly takenMs: number;
}

const leastSize = 100;
const mostSize = 12_800;
const maxAgeMs = 2_000;

export interface IdTable {
  readonly table: string;
  readonly id: string;
  /** The columns without a default, for a row that is never committed. */
  readonly row: Readonly<Record<string, Value>>;
}

/**
 * Others insert without an id: releases from before, and other modules. They get the table's AUTO_INCREMENT, which exceeds every id
 * that was inserted once, also by a statement that was undone. So one such insert tells the least id that is free, and another with an
 * id moves AUTO_INCREMENT behind the block.
 * @returns the end of the block: the first id behind it.
 */
const raiseCounter = async <DB>(trx: Trx<DB>, { table, id, row }: IdTable, size: number): Promise<number> => {
  const all = acrossTenants(trx, 'ids are no data of a company');
  const counter = sql.table(`${table}_seq`);
  const send = (query: { compile(db: Kysely<DB>): CompiledQuery }) => later(trx, query.compile(all));
  const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)));
  const values = sql.join(Object.values(row));
  const free = sql`GREATEST(next_id, LAST_INSERT_ID() + ${sql.lit(margin)})`;
  await send(sql`SELECT next_id FROM ${counter} WHERE id = 0 FOR UPDATE`);
  await send(sql`SAVEPOINT before_rows`);
  await send(sql`INSERT INTO ${sql.table(table)} (${columns}) VALUES (${values})`);
  await send(sql`ROLLBACK TO SAVEPOINT before_rows`);
  await send(sql`
    INSERT INTO ${sql.table(table)} (${columns}, ${sql.ref(id)})
    VALUES (${values}, (SELECT ${free} FROM ${counter} WHERE id = 0) + ${size})`);
  await send(sql`ROLLBACK TO SAVEPOINT before_rows`);
  await send(sql`UPDATE ${counter} SET next_id = ${free} + ${size} WHERE id = 0`);
  const { rows } = await sql<{ next_id: number }>`SELECT next_id FROM ${counter} WHERE id = 0`.execute(all);
  if (!rows[0]) throw new Error(`${table}_seq has no row`);
  return rows[0].next_id;
};

/** More ids than others are assigned between the two inserts, which arrive together. */
const margin = 1_000;

/**
 * vtgate reads a sequence's row outside of the transaction that changed it. Others' inserts take their ids from the same sequence.
 * @returns the first of the ids.
 */
const nextOfSequence = async <DB>(db: Database<DB>, { table }: IdTable, size: number): Promise<number> => {
  const all = acrossTenants(db, 'ids are no data of a company');
  const { rows } = await sql<{ nextval: number }>`
    SELECT NEXT ${sql.lit(size)} VALUES FROM ${sql.table(`${table}_seq`)}`.execute(all);
  if (!rows[0]) throw new Error(`${table}_seq gave no ids`);
  return rows[0].nextval;
};
