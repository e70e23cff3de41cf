import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import type { Fault } from '../fault.ts';

const lock = (): Fault => {
  let session: Connection;
  return {
    name: 'row lock held from outside',
    act: async ({ world }) => {
      session = await createConnection({ uri: world.stack().mysqlUrl });
      await session.query('START TRANSACTION');
      // Records that several clients change.
      const [rows] = await session.query<RowDataPacket[]>(
        'SELECT company_id, client_id FROM clients WHERE updated_utc > UTC_TIMESTAMP() - INTERVAL 5 SECOND ORDER BY version DESC LIMIT 2',
      );
      for (const { company_id, client_id } of rows)
        await session.query('SELECT 1 FROM clients WHERE company_id = ? AND client_id = ? FOR UPDATE', [
          company_id,
          client_id,
        ]);
      return `${rows.length} clients`;
    },
    lastsMs: 12_000,
    heal: () => session.end(),
  };
};

/** A session of an administrator, or a dump, holds rows locked. */
export const locks: readonly Fault[] = [lock()];
