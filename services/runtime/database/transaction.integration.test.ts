import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { createConnection } from 'mysql2/promise';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createMetrics } from '../metrics.ts';
import { testDatabase } from '../testing/index.ts';
import { connectDatabase } from './connect.ts';
import { later } from './driver.ts';
import { CommitOutcomeUnknown } from './errors.ts';
import { acrossTenants } from './tenant-guard.ts';
import { startProxy, type Verdict } from './testing/proxy.ts';
import { transaction } from './transaction.ts';
import { parseMysqlUrl } from './url.ts';

interface Tables {
  accounts: { company_id: number; id?: number; name: string; balance?: number };
}

const folders = [{ name: 'fixtures', folder: `${import.meta.dirname}/testing/migrations` }];
const database = await testDatabase({ folders });
const metrics = createMetrics();
const db = database.connect<Tables>({
  tenantTables: new Set(['accounts']),
  session: { lockWaitTimeoutS: 1 },
  metrics,
});

const add = (on: Kysely<Tables>, name: string, amount: number) =>
  on
    .updateTable('accounts')
    .set((eb) => ({ balance: eb('balance', '+', amount) }))
    .where('company_id', '=', 1)
    .where('name', '=', name)
    .execute();

const balances = async () => {
  const rows = await database.query<{ name: string; balance: number }>(
    'SELECT name, balance FROM accounts WHERE company_id = 1 ORDER BY name',
  );
  return Object.fromEntries(rows.map(({ name, balance }) => [name, balance]));
};

const connectionIdOf = async (on: Kysely<Tables>): Promise<number> => {
  const { rows } = await sql<{ id: number }>`select connection_id() as id`.execute(on);
  return rows[0]?.id ?? 0;
};

const retries = async (reason: string): Promise<number> => {
  const values = (await metrics.registry.getSingleMetric('database_transaction_retries_total')?.get())
    ?.values;
  return values?.find(({ labels }) => labels.reason === reason)?.value ?? 0;
};

/** Another client that locks a row until it ends its transaction. */
const holdRow = async () => {
  const holder = await createConnection(parseMysqlUrl(database.url));
  onTestFinished(() => holder.destroy());
  await holder.query('BEGIN');
  await holder.query("SELECT * FROM accounts WHERE company_id = 1 AND name = 'a' FOR UPDATE");
  return holder;
};

/** A pool of one connection, whose requests are seen on their way. */
const connectThrough = async (onRequest: (request: Buffer) => Verdict) => {
  const proxy = await startProxy(parseMysqlUrl(database.url), onRequest);
  const url = new URL(database.url);
  url.port = String(proxy.port);
  const own = connectDatabase<Tables>({ url: url.href, poolSize: 1, tenantTables: new Set(['accounts']) });
  onTestFinished(() => own.close());
  return own;
};

/** Two transactions that wait for each other, at most once each. */
const meeting = () => {
  let arrived = 0;
  let open: (() => void) | undefined;
  const both = new Promise<void>((resolve) => {
    open = resolve;
  });
  return async () => {
    if (++arrived === 2) open?.();
    // A deadlock needs both transactions; a single one must end, too.
    await Promise.race([both, sleep(2_000)]);
  };
};

/** By default as vtgate does with an error that MySQL has no number for. */
const refuse = (on: Kysely<Tables>, message: string, errno = message.startsWith('VT13001') ? 1815 : 1105) =>
  sql`SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${sql.lit(errno)}, MESSAGE_TEXT = ${message}`.execute(on);

beforeEach(async () => {
  await database.query('DELETE FROM accounts WHERE company_id = 1');
  await database.query("INSERT INTO accounts (company_id, name) VALUES (1, 'a'), (1, 'b')");
});

describe('a transaction', () => {
  it('rolls back when its work throws, throws the same, and runs no effect', async () => {
    const failure = new Error('no');
    let effects = 0;
    const work = transaction(db, async (trx) => {
      trx.onCommit(() => effects++);
      await add(trx, 'a', 5);
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    expect(await balances()).toEqual({ a: 0, b: 0 });
    await sleep(20);
    expect(effects).toBe(0);
  });

  it('is retried after a deadlock, so that both sides commit', async () => {
    const before = await retries('deadlock');
    const meet = meeting();
    const runs = { first: 0, second: 0 };
    await Promise.all([
      transaction(db, async (trx) => {
        runs.first++;
        await add(trx, 'a', 1);
        await meet();
        await add(trx, 'b', 1);
      }),
      transaction(db, async (trx) => {
        runs.second++;
        await add(trx, 'b', 10);
        await meet();
        await add(trx, 'a', 10);
      }),
    ]);
    expect(await balances()).toEqual({ a: 11, b: 11 });
    expect(runs.first + runs.second).toBe(3);
    expect(await retries('deadlock')).toBe(before + 1);
  });

  it('commits none of twenty writers twice when all compete for the same rows', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        transaction(
          db,
          async (trx) => {
            await add(trx, at % 2 ? 'a' : 'b', 1);
            await add(trx, at % 2 ? 'b' : 'a', 1);
          },
          { attempts: 20 },
        ),
      ),
    );
    expect(await balances()).toEqual({ a: 20, b: 20 });
  });

  it('stops, and commits nothing, when its work hides the deadlock', async () => {
    const meet = meeting();
    let hidden = 0;
    const party = (first: string, second: string) =>
      transaction(db, async (trx) => {
        await add(trx, first, 1);
        await meet();
        try {
          await add(trx, second, 1);
        } catch {
          hidden++;
          await add(trx, first, 100).catch(() => {});
        }
      });
    await Promise.all([party('a', 'b'), party('b', 'a')]);
    expect(hidden).toBe(1);
    expect(await balances()).toEqual({ a: 2, b: 2 });
  });

  it.each([
    'target: causeway.-80.primary: current keyspace is being resharded',
    'original err (type=<nil>): <nil>: destination shard is missing after a resharding operation',
    "VT13001: [BUG] unexpected 'autocommitted' state in transaction",
    'target: causeway.-80.primary: primary is not serving, there may be a reparent operation in progress',
    'target: causeway.-80.primary: vttablet: operation not allowed in state NOT_SERVING',
    'disallowed due to rule: enforce denied tables',
    'no healthy tablet available for \'keyspace:"causeway" shard:"-80"\'',
    'vttablet: rpc error: transaction 1763840000000000001: ended at 2026-11-22 20:00:00',
  ])('is retried when vtgate says: %s', async (message) => {
    const before = await retries('shard_switch');
    let runs = 0;
    await transaction(db, async (trx) => {
      await add(trx, 'a', 1);
      if (++runs === 1) await refuse(trx, message);
    });
    expect([runs, await balances()]).toEqual([2, { a: 1, b: 0 }]);
    expect(await retries('shard_switch')).toBe(before + 1);
  });

  it.each([1290, 1792, 1836])(
    'is retried through another connection when the server refuses writes with %i',
    async (errno) => {
      const used: number[] = [];
      await transaction(db, async (trx) => {
        used.push(await connectionIdOf(trx));
        await add(trx, 'a', 1);
        if (used.length === 1) await refuse(trx, 'read only', errno);
      });
      expect(new Set(used).size).toBe(2);
      expect(await balances()).toEqual({ a: 1, b: 0 });
    },
  );

  it('is not retried after another error with the same number', async () => {
    const work = transaction(db, (trx) => refuse(trx, 'unknown error'));
    await expect(work).rejects.toThrow('unknown error');
  });

  it('is retried when a lock is not granted in time', async () => {
    const holder = await holdRow();
    let runs = 0;
    await transaction(db, async (trx) => {
      if (++runs === 2) await holder.query('ROLLBACK');
      await add(trx, 'b', 1);
      await add(trx, 'a', 1);
    });
    expect(runs).toBe(2);
    expect(await balances()).toEqual({ a: 1, b: 1 });
  });

  it('gives up after its attempts and throws the error of the last', async () => {
    await holdRow();
    let runs = 0;
    const work = transaction(
      db,
      async (trx) => {
        runs++;
        await add(trx, 'a', 1);
      },
      { attempts: 2 },
    );
    await expect(work).rejects.toMatchObject({ errno: 1205 });
    expect(runs).toBe(2);
  });

  it('is retried when its connection is killed between two statements, and runs its effect once', async () => {
    let runs = 0;
    let effects = 0;
    await transaction(db, async (trx) => {
      trx.onCommit(() => effects++);
      await add(trx, 'a', 1);
      if (++runs === 1) await database.query('KILL ?', [await connectionIdOf(trx)]);
      await add(trx, 'b', 1);
    });
    expect(runs).toBe(2);
    expect(await balances()).toEqual({ a: 1, b: 1 });
    expect(db.use().inUse).toBe(0);
    await expect.poll(() => effects).toBe(1);
  });

  it('is retried when its connection is killed during a statement', async () => {
    let runs = 0;
    await transaction(db, async (trx) => {
      await add(trx, 'a', 1);
      if (++runs > 1) return;
      const id = await connectionIdOf(trx);
      // By then the statement below is running.
      const killed = sleep(100).then(() => database.query('KILL ?', [id]));
      await Promise.all([sql`do sleep(5)`.execute(trx), killed]);
    });
    expect(runs).toBe(2);
    expect(await balances()).toEqual({ a: 1, b: 0 });
  });

  it('commits no later part when its work hides a lost connection', async () => {
    let runs = 0;
    await transaction(db, async (trx) => {
      await add(trx, 'a', 1);
      if (++runs === 1) {
        await database.query('KILL ?', [await connectionIdOf(trx)]);
        await add(trx, 'a', 1).catch(() => {});
        await add(trx, 'b', 1).catch(() => {});
      }
    });
    expect(runs).toBe(2);
    expect(await balances()).toEqual({ a: 1, b: 0 });
  });

  for (const [when, verdict, balance] of [
    ['before the server got it', 'drop', 0],
    ['after the server has done it', 'pass, then hang up', 5],
  ] as const) {
    it(`says that the outcome is unknown, and is not retried, when COMMIT is lost ${when}`, async () => {
      const cut = await connectThrough((request) =>
        request.toString('latin1').endsWith('commit') ? verdict : 'pass',
      );
      let runs = 0;
      let effects = 0;
      const work = transaction(cut, async (trx) => {
        runs++;
        trx.onCommit(() => effects++);
        await add(trx, 'a', 5);
      });
      await expect(work).rejects.toBeInstanceOf(CommitOutcomeUnknown);
      expect(runs).toBe(1);
      expect(effects).toBe(0);
      expect((await balances()).a).toBe(balance);
    });
  }

  it('runs its effects in order, after the commit and not before', async () => {
    const seen: string[] = [];
    await transaction(db, async (trx) => {
      await add(trx, 'a', 5);
      trx.onCommit(async () => seen.push(`first ${(await balances()).a}`));
      trx.onCommit(() => seen.push('second'));
      await sleep(20);
      expect(seen).toEqual([]);
    });
    await expect.poll(() => seen).toEqual(expect.arrayContaining(['second', 'first 5']));
  });
});

describe('a deferred statement', () => {
  const insert = (on: Kysely<Tables>, name: string) =>
    on.insertInto('accounts').values({ company_id: 1, name }).compile();

  const recorded = async () => {
    const requests: string[] = [];
    const own = await connectThrough((request) => {
      requests.push(request.toString('latin1'));
      return 'pass';
    });
    await own.ping();
    requests.length = 0;
    return { own, requests };
  };

  it('is sent with the next one, BEGIN with the first and the last with COMMIT', async () => {
    const { own, requests } = await recorded();
    const ids: number[] = [];
    const noteId = ({ insertId }: { readonly insertId?: bigint }) => void ids.push(Number(insertId));
    await transaction(own, async (trx) => {
      await later(trx, insert(trx, 'c'), noteId);
      await later(trx, insert(trx, 'd'), noteId);
      expect(ids).toEqual([]);
      const { rows } = await sql<{ id: number }>`select last_insert_id() as id`.execute(trx);
      expect(ids).toEqual([expect.any(Number), rows[0]?.id]);
      await later(trx, insert(trx, 'e'), noteId);
    });
    expect(requests.map((text) => text.match(/\b(begin|insert|select|commit)\b/g))).toEqual([
      ['begin', 'insert', 'insert', 'select'],
      ['insert', 'commit'],
    ]);
    expect(ids).toEqual([ids[0], ids[0]! + 1, ids[0]! + 2]);
    expect(Object.keys(await balances())).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('gets its own values, whatever its neighbours hold', async () => {
    const names = ["?; drop table accounts; -- '", 'b?', "\\'; select 1; '"];
    await transaction(db, async (trx) => {
      for (const name of names) await later(trx, insert(trx, name));
    });
    expect(Object.keys(await balances())).toEqual(expect.arrayContaining(names));
  });

  it('fails the commit, which then does not happen', async () => {
    const work = transaction(db, async (trx) => {
      await add(trx, 'a', 5);
      await later(trx, insert(trx, 'b'));
      await later(trx, insert(trx, 'c'));
    });
    await expect(work).rejects.toMatchObject({ errno: 1062 });
    expect(await balances()).toEqual({ a: 0, b: 0 });
  });

  it('leaves only the rollback when it fails, even if the work hides that', async () => {
    const work = transaction(db, async (trx) => {
      await later(trx, insert(trx, 'b'));
      await add(trx, 'a', 5).catch(() => {});
    });
    await expect(work).rejects.toMatchObject({ errno: 1062 });
    expect(await balances()).toEqual({ a: 0, b: 0 });
  });

  it('is never sent if the work fails before', async () => {
    const { own, requests } = await recorded();
    const failure = new Error('no');
    const work = transaction(own, async (trx) => {
      await later(trx, insert(trx, 'c'));
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    await transaction(own, async () => {});
    expect(requests).toEqual([]);
    await add(own, 'a', 5);
    expect(await balances()).toEqual({ a: 5, b: 0 });
  });

  it('needs a transaction, and is one statement', async () => {
    await expect(later(db, insert(db, 'c'))).rejects.toThrow('only a transaction can defer a statement');
    const two = sql`select 1; select 2`.execute(acrossTenants(db, 'the test'));
    await expect(two).rejects.toThrow('a statement may hold no semicolon');
  });
});

describe('outside of a transaction, while vtgate switches a shard', () => {
  it('a read is asked again', async () => {
    await database.query(`CREATE FUNCTION ${database.name}.refuse_once() RETURNS INT NO SQL BEGIN
      IF @refused IS NULL THEN
        SET @refused = 1;
        SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1105, MESSAGE_TEXT = 'current keyspace is being resharded';
      END IF;
      RETURN 7;
    END`);
    const one = database.connect<Tables>({ poolSize: 1 });
    const { rows } = await sql<{ answer: number }>`SELECT refuse_once() AS answer`.execute(one);
    expect(rows).toEqual([{ answer: 7 }]);
  });

  it('the outcome of a write is unknown', async () => {
    await expect(refuse(db, 'current keyspace is being resharded')).rejects.toThrow(CommitOutcomeUnknown);
  });
});
