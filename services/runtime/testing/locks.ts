import type { TestDatabase } from './database.ts';
import { until } from './until.ts';

export const waitsForLock = async ({ name, query }: Pick<TestDatabase, 'name' | 'query'>): Promise<void> => {
  const isWaiting = async () => {
    const waiting = await query(
      `SELECT 1 FROM information_schema.processlist AS p
       LEFT JOIN information_schema.innodb_trx AS t ON t.trx_mysql_thread_id = p.id
       WHERE p.db = ? AND (p.state = 'Waiting for table metadata lock' OR t.trx_state = 'LOCK WAIT')`,
      [name],
    );
    return waiting.length > 0;
  };
  // InnoDB shows the same transactions again if it was asked less than 100 ms ago.
  await until('a wait for a lock', isWaiting, { everyMs: 150 });
};
