import { expect, vi } from 'vitest';
import type { TestDatabase } from './database.ts';

export const waitsForLock = ({ name, query }: Pick<TestDatabase, 'name' | 'query'>): Promise<void> =>
  vi.waitFor(
    async () => {
      const waiting = await query(
        `SELECT 1 FROM information_schema.processlist AS p
         LEFT JOIN information_schema.innodb_trx AS t ON t.trx_mysql_thread_id = p.id
         WHERE p.db = ? AND (p.state = 'Waiting for table metadata lock' OR t.trx_state = 'LOCK WAIT')`,
        [name],
      );
      expect(waiting.length).toBeGreaterThan(0);
    },
    // InnoDB shows the same transactions again if it was asked less than 100 ms ago.
    { timeout: 60_000, interval: 150 },
  );
