import { until } from '@causeway/runtime/testing/until';
import { createConnection } from 'mysql2/promise';
import type { World } from './open.ts';
import { processesOf, signal } from './processes.ts';

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

/** @returns the process IDs that were killed. */
export const kill = (world: World, ...kinds: readonly string[]): readonly number[] =>
  kinds.flatMap((kind) => processesOf(world, kind).map(({ name }) => signal(world, name, 'SIGKILL')));

/** Runs the work while nothing travels over NATS. */
export const withoutNats = async (world: World, work: () => Promise<void>): Promise<void> => {
  const names = processesOf(world, 'nats').map(({ name }) => name);
  for (const name of names) signal(world, name, 'SIGSTOP');
  try {
    await work();
  } finally {
    for (const name of names) signal(world, name, 'SIGCONT');
  }
};
