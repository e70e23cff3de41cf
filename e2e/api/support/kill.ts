import { until } from '@causeway/runtime/testing/until';
import { createConnection } from 'mysql2/promise';
import { outcome } from './clock.ts';
import type { World } from './open.ts';
import { allReady, processesOf, signal } from './processes.ts';

/** Holds what a statement locks, so that the process that needs it waits in the middle of its transaction. */
export const hold = async (world: World, text: string, values: readonly unknown[]) => {
  const connection = await createConnection(world.stack().mysqlUrl);
  await connection.beginTransaction();
  await connection.query(text, [...values]);
  return {
    // InnoDB refreshes the table only if nobody has read it for 100 ms.
    awaited: () =>
      until(
        'a transaction waits',
        async () => {
          const [row] = await world.sql<{ waiting: number }>(
            "SELECT COUNT(*) AS waiting FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
          );
          return row!.waiting > 0;
        },
        { everyMs: 200 },
      ),
    release: () => connection.end(),
  };
};

/** A statement that holds what a call needs, with its values. */
export type Lock = readonly [text: string, values: readonly unknown[]];

/** Kills these kinds of processes while the call waits for the lock. @returns its outcome, when all are ready again. */
export const killDuring = <Answer>(
  world: World,
  kinds: readonly string[],
  lock: Lock,
  call: () => Promise<Answer>,
): Promise<Answer | Error> =>
  whileLocked(world, lock, call, async (release) => {
    const gone = kill(world, ...kinds);
    await release();
    return gone;
  });

/** Kills these kinds of processes when the transaction that waited is committed, but before anybody can be told. */
export const killAfter = <Answer>(
  world: World,
  kinds: readonly string[],
  lock: Lock,
  call: () => Promise<Answer>,
  committed: () => Promise<boolean>,
): Promise<Answer | Error> =>
  whileLocked(world, lock, call, (release) =>
    withoutNats(world, async () => {
      await release();
      await until('the transaction is committed', committed);
      return kill(world, ...kinds);
    }),
  );

const whileLocked = async <Answer>(
  world: World,
  [text, values]: Lock,
  call: () => Promise<Answer>,
  killing: (release: () => Promise<void>) => Promise<readonly number[]>,
): Promise<Answer | Error> => {
  const held = await hold(world, text, values);
  const asked = outcome(call());
  await held.awaited();
  const gone = await killing(held.release);
  const answer = await asked;
  await allReady(world, gone);
  return answer;
};

/** @returns the process IDs that were killed. */
export const kill = (world: World, ...kinds: readonly string[]): readonly number[] =>
  kinds.flatMap((kind) => processesOf(world, kind).map(({ name }) => signal(world, name, 'SIGKILL')));

/** Runs the work while nothing travels over NATS. */
const withoutNats = async <Result>(world: World, work: () => Promise<Result>): Promise<Result> => {
  const names = processesOf(world, 'nats').map(({ name }) => name);
  for (const name of names) signal(world, name, 'SIGSTOP');
  try {
    return await work();
  } finally {
    for (const name of names) signal(world, name, 'SIGCONT');
  }
};
