import { parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';

export interface Moved {
  /** The next id of each table that gives ids. */
  readonly nextIds: Readonly<Record<string, number>>;
  /** Companies whose events are numbered on from further ahead. */
  readonly companies: number;
  /** How many of each were ended. */
  readonly ended: Readonly<Record<string, number>>;
}

/** The database is not as it must be; the message says what to do. */
export class MoveAheadError extends Error {
  override readonly name = 'MoveAheadError';
}

/**
 * Makes a database that was restored fit to be worked on. The world outside has seen more than it knows: ids and
 * numbers that it would give again, and sessions and links that were ended.
 *
 * - Every id that is given from now on is `ahead` further: an event under an old event's id would be taken for
 *   a duplicate by its receivers, a client under another's id for that one.
 * - So is every company's numbering of events, as well as that of companies that had none: a reader of the event
 *   log goes on from the number it has seen last, and would miss what came under smaller ones.
 * - Sessions, open invitations and links to a new password end: some of them were ended, or used, after the moment.
 *
 * Nothing may be connected to the database. Doing it twice leaves out as much again and does no other harm.
 * @param ahead more than the ids that any table has given since the moment.
 * @throws MoveAheadError where something is connected, or the user may not see what is (PROCESS), or `ahead` would leave the numbers JSON can carry.
 */
export const moveAhead = async (mysqlUrl: string, ahead: number): Promise<Moved> => {
  const connection = await createConnection({ ...parseMysqlUrl(mysqlUrl), supportBigNumbers: true });
  try {
    // Else the counters are those of up to a day ago.
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

/** Whose rows let somebody in. */
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
