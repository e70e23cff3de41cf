import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { startMysql } from '../local/mysql.ts';
import { readToolchain } from '../local/toolchain.ts';
import { temporary } from './testing/cluster.ts';

// Walks "Replace the MySQL primary" of operations.md with two real servers.

const { mysqld } = readToolchain(readEnv());
const operations = readFileSync(join(import.meta.dirname, '../operations.md'), 'utf8');
const section = operations.slice(operations.indexOf('## Replace the MySQL primary'));
const stopWrites = /`(SET GLOBAL super_read_only = ON)`/.exec(section)?.[1] ?? '';
const promote = /```sql\n(.*?)```/s.exec(section)?.[1]?.trim().split(';\n') ?? [];

const open = async (name: string) => {
  const server = await startMysql({ home: temporary(name), program: mysqld! });
  cleanUp(() => server.stop());
  const connection = await createConnection(server.url);
  cleanUp(() => connection.end());
  return { ...server, connection };
};
const ask = async (connection: Connection, sql: string): Promise<RowDataPacket> =>
  (await connection.query<RowDataPacket[]>(sql))[0][0]!;
const replica = ({ connection }: { connection: Connection }) => ask(connection, 'SHOW REPLICA STATUS');

test.runIf(mysqld)(
  'a standby takes over as the guide says, and the old primary takes no more writes',
  async () => {
    const [primary, standby] = [await open('primary'), await open('standby')];
    const { File, Position } = await ask(primary.connection, 'SHOW BINARY LOG STATUS');
    const { username, password } = new URL(primary.url);
    await standby.connection.query('SET GLOBAL server_id = 2, read_only = ON, super_read_only = ON');
    await standby.connection.query(
      `CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = ?, SOURCE_USER = ?, SOURCE_PASSWORD = ?,
     SOURCE_LOG_FILE = ?, SOURCE_LOG_POS = ?, GET_SOURCE_PUBLIC_KEY = 1`,
      [primary.port, username, password, File, Position],
    );
    await standby.connection.query('START REPLICA');
    await primary.connection.query('CREATE TABLE facts (id INT PRIMARY KEY)');
    await primary.connection.query('INSERT INTO facts VALUES (1), (2)');

    await expect
      .poll(() => replica(standby))
      .toMatchObject({ Replica_IO_Running: 'Yes', Replica_SQL_Running: 'Yes', Seconds_Behind_Source: 0 });
    await primary.connection.query(stopWrites);
    await expect(primary.connection.query('INSERT INTO facts VALUES (3)')).rejects.toThrow(/read-only/);
    await expect
      .poll(async () => (await ask(standby.connection, 'SELECT COUNT(*) AS n FROM facts')).n)
      .toBe(2);
    await expect(standby.connection.query('INSERT INTO facts VALUES (4)')).rejects.toThrow(/read-only/);

    expect(promote).toHaveLength(3);
    for (const statement of promote) await standby.connection.query(statement.replace(/;$/, ''));
    await standby.connection.query('INSERT INTO facts VALUES (4)');
    expect(await replica(standby)).toBeUndefined();
  },
);
