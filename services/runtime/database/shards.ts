import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { shareRun } from '../in-flight.ts';
import { DatabaseUnavailable, isShardSwitch, spansShards } from './errors.ts';
import type { Database, Shards } from './handle.ts';

/** @param read the names, each of which is a range of keyspace IDs: `-80`, `80-c0` */
export const createShards = (read: () => Promise<readonly string[]>): Shards => {
  let ranges: readonly ShardRange[] = [];
  let homes = new Map<number, string>();
  const learn = shareRun(async () => {
    ranges = (await read()).map(rangeOf);
    homes = new Map();
  });
  return {
    learn,
    ready: async () => {
      if (ranges.length === 0) await learn();
    },
    count: () => ranges.length,
    of: (companyId) => {
      const home = homes.get(companyId);
      if (home !== undefined) return home;
      const id = keyspaceIdOf(companyId);
      const name = ranges.find(({ from, to }) => id >= from && (to === '' || id < to))?.name ?? '';
      if (homes.size >= maxHomes) homes = new Map();
      homes.set(companyId, name);
      return name;
    },
  };
};

const maxHomes = 100_000;

/** Up to but not including `to`; empty for none. They compare as text. */
interface ShardRange {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** The one shard of an unsharded keyspace has a name without a dash. */
const rangeOf = (name: string): ShardRange => {
  const [from = '', to] = name.split('-');
  return to === undefined ? { name, from: '', to: '' } : { name, from, to };
};

/**
 * Runs `work` for each shard's part of the rows: vtgate refuses a transaction over several shards
 * (`--transaction-mode=SINGLE`), because it can be half committed. Without shards, `work` runs once with all
 * rows. The parts run side by side, and a part whose shard was split is divided again.
 * @param work its handle is the one to use for these rows.
 * @throws the first failure, after all parts have ended.
 */
export const byShard = async <DB, Row, Result>(
  db: Database<DB>,
  rows: readonly Row[],
  companyOf: (row: Row) => number,
  work: (rows: readonly Row[], db: Database<DB>) => Promise<Result>,
): Promise<readonly Result[]> => {
  const { shards } = db;
  if (!shards) return [await work(rows, db)];
  const run = async ({ db: shard, rows: some }: Part<DB, Row>): Promise<readonly Result[]> => {
    try {
      return [await work(some, shard)];
    } catch (error) {
      if (!spansShards(error)) throw error;
      await shards.learn().catch(() => {});
      if ((await partsByShard(db, some, companyOf)).length === 1) throw error;
      return byShard(db, some, companyOf, work);
    }
  };
  const ended = await Promise.allSettled((await partsByShard(db, rows, companyOf)).map(run));
  return ended.flatMap((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
};

export const partsByShard = async <DB, Row>(
  db: Database<DB>,
  rows: readonly Row[],
  companyOf: (row: Row) => number,
): Promise<readonly Part<DB, Row>[]> => {
  const { shards } = db;
  if (!shards || rows.length === 0) return [{ db, rows }];
  await shards.ready();
  return [...Map.groupBy(rows, (row) => shards.of(companyOf(row))).values()].map((part) => ({
    db,
    rows: part,
  }));
};

interface Part<DB, Row> {
  readonly db: Database<DB>;
  readonly rows: readonly Row[];
}

export const readVitessShards = async <DB>(db: Kysely<DB>, keyspace: string): Promise<readonly string[]> => {
  const { rows } = await sql<Readonly<Record<string, string>>>`SHOW VITESS_SHARDS`.execute(db);
  const names = rows.map((row) => Object.values(row)[0] ?? '');
  const own = names.filter((name) => name.startsWith(`${keyspace}/`));
  if (own.length === 0) throw new Error(`vtgate has no shard of the keyspace ${keyspace}`);
  return own.map((name) => name.slice(keyspace.length + 1));
};

/**
 * Where Vitess's vindex `xxhash` puts a company's rows, as 16 hexadecimal digits: the XXH64 of the id's
 * decimal digits, the lowest byte first (https://xxhash.com; go/vt/vtgate/vindexes/xxhash.go).
 */
export const keyspaceIdOf = (companyId: number): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(xxh64(Buffer.from(String(companyId))));
  return bytes.toString('hex');
};

const xxh64 = (bytes: Buffer): bigint => {
  let hash = uint64(prime5 + BigInt(bytes.length));
  let at = 0;
  for (; at + 8 <= bytes.length; at += 8) {
    const lane = uint64(rotated(uint64(bytes.readBigUInt64LE(at) * prime2), 31n) * prime1);
    hash = uint64(rotated(hash ^ lane, 27n) * prime1 + prime4);
  }
  for (; at + 4 <= bytes.length; at += 4)
    hash = uint64(rotated(hash ^ uint64(BigInt(bytes.readUInt32LE(at)) * prime1), 23n) * prime2 + prime3);
  for (; at < bytes.length; at++)
    hash = uint64(rotated(hash ^ uint64(BigInt(bytes[at]!) * prime5), 11n) * prime1);
  hash = uint64((hash ^ (hash >> 33n)) * prime2);
  hash = uint64((hash ^ (hash >> 29n)) * prime3);
  return hash ^ (hash >> 32n);
};

const uint64 = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotated = (value: bigint, bits: bigint): bigint => uint64((value << bits) | (value >> (64n - bits)));

const prime1 = 0x9e3779b185ebca87n;
const prime2 = 0xc2b2ae3d27d4eb4fn;
const prime3 = 0x165667b19e3779f9n;
const prime4 = 0x85ebca77c2b2ae63n;
const prime5 = 0x27d4eb2f165667c5n;

/** Repeats `work` while vtgate switches a shard. @throws DatabaseUnavailable after `patienceMs` */
export const throughShardSwitch = async <Result>(
  work: () => Promise<Result>,
  onRetry: () => void = () => {},
): Promise<Result> => {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isShardSwitch(error)) throw error;
      if (performance.now() > endMs)
        throw new DatabaseUnavailable('unreachable', 'a shard is being switched', { cause: error });
    }
    onRetry();
    await sleep(pauseMs);
  }
};

const patienceMs = 5_000;
const pauseMs = 100;
