import { parseMysqlUrl } from '@causeway/runtime';
import { createConnection, type RowDataPacket } from 'mysql2/promise';

export interface MysqlState {
  /** Undefined for a server that is no replica. */
  readonly replica: { readonly running: boolean; readonly lagSeconds: number | undefined } | undefined;
  /** Undefined without a binary log. */
  readonly binlog: { readonly file: string; readonly position: number } | undefined;
  readonly certificateEndMs: number | undefined;
}

/**
 * Asks a MySQL server about itself. Its user needs `REPLICATION CLIENT`.
 * @throws if it does not answer within five seconds
 */
export const readMysql = async (url: string): Promise<MysqlState> => {
  // Its user has no privilege on any database, so it may not connect to one.
  const { database: _, ...server } = parseMysqlUrl(url);
  const connection = await createConnection({ ...server, connectTimeout: timeoutMs });
  connection.on('error', () => {});
  const ask = async (sql: string): Promise<RowDataPacket | undefined> =>
    (await connection.query<RowDataPacket[]>({ sql, timeout: timeoutMs }))[0][0];
  try {
    const replica = await ask('SHOW REPLICA STATUS');
    const binlog = await ask('SHOW BINARY LOG STATUS');
    const expiry = await ask("SHOW GLOBAL STATUS LIKE 'Ssl_server_not_after'");
    const endMs = Date.parse(String(expiry?.Value));
    return {
      replica: replica && {
        running: replica.Replica_IO_Running === 'Yes' && replica.Replica_SQL_Running === 'Yes',
        lagSeconds:
          replica.Seconds_Behind_Source === null ? undefined : Number(replica.Seconds_Behind_Source),
      },
      binlog: binlog && { file: String(binlog.File), position: Number(binlog.Position) },
      certificateEndMs: Number.isNaN(endMs) ? undefined : endMs,
    };
  } finally {
    connection.destroy();
  }
};

const timeoutMs = 5_000;
