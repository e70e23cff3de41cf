import { parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';

interface Moved {
  readonly nextIds: Readonly<Record<string, number>>;
  readonly companies: number;
  readonly ended: Readonly<Record<string, number>>;
}

export class MoveAheadError extends Error {
  override readonly name = 'MoveAheadError';
}

/**
 * Makes a restored database safe to use: callers and receivers have seen more ids and events than it knows.
 * - Every new id and every company's event sequence is `ahead` larger: receivers would take an event with an
 * old event's id for a duplicate, and a reader of the event log would miss events with smaller numbers.
 * - Sessions, open invitations and password reset links end, because some had ended after the moment.
 * Running it twice skips more numbers and does no other harm.
 * @param ahead more than the ids that any table has assigned since the moment.
 * @throws MoveAheadError if something else is connected, the user may not list connections (PROCESS), or
 * `ahead` would exceed the numbers that JSON can carry.
 */
export const moveAhead = async (mysqlUrl: string, ahead: number): Promise<Moved> => {
  const connection = await createConnection({ ...parseMysqlUrl(mysqlUrl), supportBigNumbers: true });
  try {
    // Otherwise the counters are up to a day old.
    await connection.query('SET SESSION information_schema_stats_expiry = 0, lock_wait_timeout = 5');
    await requireAlone(connection);
    const next = await nextIds(connection, ahead);
    for (const [table, id] of Object.entries(next))
      await connection.query('ALTER TABLE ?? AUTO_INCREMENT = ?', [table, id]);
    await connection.query('START TRANSACTION');
    const companies = await moveSequences(connection, ahead);
    const ended: Record<string, number> = {};
    for (const table of passes) ended[table] = await empty(connection, table);
    await connection.query('COMMIT');
    return { nextIds: next, companies, ended };
  } finally {
    await connection.end();
  }
};

const passes = ['portal_sessions', 'portal_invitations', 'portal_password_resets'];

const requireAlone = async (connection: Connection): Promise<void> => {
  const [grants] = await connection.query<RowDataPacket[]>('SHOW GRANTS');
  const mayLook = grants.some((row) =>
    / PROCESS\b.* ON \*\.\* |PRIVILEGES ON \*\.\* |GRANT PROCESS/.test(String(Object.values(row)[0])),
  );
  if (!mayLook)
    throw new MoveAheadError('this user cannot see who else is connected; GRANT PROCESS ON *.* to it');
  const [processes] = await connection.query<RowDataPacket[]>('SHOW PROCESSLIST');
  const [[here]] = await connection.query<RowDataPacket[]>('SELECT DATABASE() AS name');
  const others = processes.filter(({ db, Id }) => db === here?.name && Id !== connection.threadId);
  if (others.length === 0) return;
  const who = [...new Set(others.map(({ User, Host }) => `${User} from ${Host}`))].join(', ');
  throw new MoveAheadError(`the database is in use (${who}); stop every service first`);
};

const nextIds = async (connection: Connection, ahead: number): Promise<Record<string, number>> => {
  const [tables] = await connection.query<RowDataPacket[]>(
    `SELECT c.table_name AS name, c.column_name AS id, t.auto_increment AS next
     FROM information_schema.columns AS c
     JOIN information_schema.tables AS t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
     WHERE c.table_schema = DATABASE() AND c.extra LIKE '%auto_increment%'
     ORDER BY c.table_name`,
  );
  const next: Record<string, number> = {};
  for (const table of tables) {
    const [[row]] = await connection.query<RowDataPacket[]>('SELECT MAX(??) AS last FROM ??', [
      table.id,
      table.name,
    ]);
    const id = Math.max(Number(table.next ?? 1), Number(row?.last ?? 0) + 1) + ahead;
    if (!Number.isSafeInteger(id)) throw new MoveAheadError(`${table.name} would run out of ids`);
    next[table.name] = id;
  }
  return next;
};

const moveSequences = async (connection: Connection, ahead: number): Promise<number> => {
  const [{ affectedRows }] = await connection.query<ResultSetHeader>(
    'UPDATE event_sequences SET last_sequence = last_sequence + ?',
    [ahead],
  );
  const [added] = await connection.query<ResultSetHeader>(
    `INSERT INTO event_sequences (company_id, last_sequence)
     SELECT company_id, ? FROM companies WHERE company_id NOT IN (SELECT company_id FROM event_sequences)`,
    [ahead],
  );
  return affectedRows + added.affectedRows;
};

const empty = async (connection: Connection, table: string): Promise<number> => {
  const [{ affectedRows }] = await connection.query<ResultSetHeader>('DELETE FROM ??', [table]);
  return affectedRows;
};
