import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Database } from './handle.ts';
import { byShard, createShards, keyspaceIdOf, partsByShard } from './shards.ts';

const company = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const companies = fc.array(company, { maxLength: 60 });

/** Names of shards that together hold every keyspace ID, with bounds of one to eight bytes. */
const shardNames = fc
  .uniqueArray(fc.uint8Array({ minLength: 1, maxLength: 8 }), {
    maxLength: 7,
    selector: (bytes) => BigInt(`0x${Buffer.from(bytes).toString('hex').padEnd(16, '0')}`),
  })
  .map((bounds) => bounds.map((bytes) => Buffer.from(bytes).toString('hex')).sort())
  .filter((bounds) => !/^0+$/.test(bounds[0] ?? '1'))
  .map((bounds) => ['', ...bounds].map((from, at) => `${from}-${bounds[at] ?? ''}`));

const handle = (read: () => readonly string[]) =>
  ({ shards: createShards(async () => read()) }) as unknown as Database<unknown>;

const bound = (hex: string, open: bigint): bigint => (hex === '' ? open : BigInt(`0x${hex.padEnd(16, '0')}`));
const isIn = (name: string, companyId: number): boolean => {
  const [from = '', to = ''] = name.split('-');
  const id = BigInt(`0x${keyspaceIdOf(companyId)}`);
  return id >= bound(from, 0n) && id < bound(to, 1n << 64n);
};
const itself = (companyId: number): number => companyId;

test('each part is in one shard, and each row in exactly one part, in its order', async () => {
  await fc.assert(
    fc.asyncProperty(shardNames, companies, async (names, rows) => {
      const parts = await partsByShard(
        handle(() => names),
        rows,
        itself,
      );
      const homes = parts.map((part) => names.filter((name) => part.rows.every((row) => isIn(name, row))));
      if (rows.length > 0) {
        for (const names of homes) expect(names).toHaveLength(1);
        expect(new Set(homes.flat()).size).toBe(parts.length);
      }
      const found = parts.flatMap((part) => part.rows);
      expect(found.toSorted()).toEqual(rows.toSorted());
      for (const part of parts) expect(part.rows).toEqual(rows.filter((row) => part.rows.includes(row)));
    }),
  );
});

test('without shards, all rows are one part', async () => {
  const db = { shards: undefined } as unknown as Database<unknown>;
  await fc.assert(
    fc.asyncProperty(companies, async (rows) => {
      expect(await byShard(db, rows, itself, async (some, own) => [some === rows, own === db])).toEqual([
        [true, true],
      ]);
    }),
  );
});

test('an unsharded keyspace is one shard', async () => {
  expect(
    await partsByShard(
      handle(() => ['0']),
      [1, 2, 3, 4],
      itself,
    ),
  ).toHaveLength(1);
});

/** Refuses rows of several shards as vtgate does. */
const vtgate = (names: () => readonly string[]) => (rows: readonly number[]) => {
  if (names().some((name) => rows.every((row) => isIn(name, row)))) return;
  const sqlMessage = 'target: causeway.80-.primary: multi-db transaction attempted: [...]';
  throw Object.assign(new Error(sqlMessage), { errno: 1317, sqlMessage });
};

test('a reshard is noticed: parts that span the new shards are divided again, and no row is done twice', async () => {
  await fc.assert(
    fc.asyncProperty(shardNames, shardNames, companies, async (before, after, rows) => {
      let names = before;
      const db = handle(() => names);
      const check = vtgate(() => names);
      await byShard(db, rows, itself, async (some) => check(some));
      names = after;
      const done: number[] = [];
      await byShard(db, rows, itself, async (some) => {
        check(some);
        done.push(...some);
      });
      expect(done.toSorted()).toEqual(rows.toSorted());
    }),
  );
});

test('the first failure is thrown after the other parts have ended', async () => {
  const db = handle(() => ['-80', '80-']);
  const done: number[] = [];
  // 1 and 2 are in the second shard, 17 and 1001 in the first.
  const work = byShard(db, [1, 17, 2, 1001], itself, async (rows) => {
    if (rows.includes(1)) throw new Error('refused');
    await new Promise((resolve) => setTimeout(resolve, 5));
    done.push(...rows);
  });
  await expect(work).rejects.toThrow('refused');
  expect(done).toEqual([17, 1001]);
});

test('a refusal by vtgate that a division cannot mend is thrown', async () => {
  const db = handle(() => ['-80', '80-']);
  await expect(byShard(db, [1], itself, async () => vtgate(() => [])([1]))).rejects.toThrow('multi-db');
});
