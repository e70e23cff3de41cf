/** No connection: the server is unreachable, or every connection is busy. Can be retried. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  readonly kind: 'unreachable' | 'busy' | 'closed';

  constructor(kind: DatabaseUnavailable['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/**
 * The connection was lost between COMMIT and its answer. The transaction is either fully committed or fully rolled
 * back; only the data can tell which.
 */
export class CommitOutcomeUnknown extends Error {
  override readonly name = 'CommitOutcomeUnknown';
}

/** A query that may leave its tenant. The message says what is missing or not supported, and what to write. */
export class TenantGuardError extends Error {
  override readonly name = 'TenantGuardError';
}

/** Server errors by number: https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html */
const lockWaitTimeout = 1205;
const deadlock = 1213;
const duplicateEntry = 1062;
const lockedNoWait = 3572;
/** Shutdown in progress; query and connection killed; disconnected for inactivity. */
const connectionEndings = new Set([1053, 1080, 1152, 1317, 3169, 4031]);
const socketCodes = new Set(['PROTOCOL_CONNECTION_LOST', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNABORTED']);

interface MysqlError {
  readonly errno?: number;
  readonly code?: string;
  readonly fatal?: boolean;
  readonly sqlMessage?: string;
}

const asMysqlError = (error: unknown): MysqlError => (error instanceof Error ? (error as MysqlError) : {});

/** InnoDB chose this transaction as a deadlock victim and rolled it back. */
export const isDeadlock = (error: unknown): boolean => asMysqlError(error).errno === deadlock;

/** A lock was not granted within `innodb_lock_wait_timeout`. Only the statement was rolled back. */
export const isLockWaitTimeout = (error: unknown): boolean => asMysqlError(error).errno === lockWaitTimeout;

/** Another transaction holds a lock that the statement would not wait for (`NOWAIT`). */
export const isLockedNoWait = (error: unknown): boolean => asMysqlError(error).errno === lockedNoWait;

/** The connection is gone, so the server has rolled back its transaction. */
export const isConnectionLost = (error: unknown): boolean => {
  const { errno, code, fatal } = asMysqlError(error);
  return fatal === true || socketCodes.has(code ?? '') || connectionEndings.has(errno ?? 0);
};

/** The error is transient: the same statement may succeed later. */
export const isPassing = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable ||
  error instanceof CommitOutcomeUnknown ||
  isConnectionLost(error) ||
  isDeadlock(error) ||
  isLockWaitTimeout(error);

/** An insert met a row with the same primary key. */
export const isDuplicateRow = (error: unknown, table: string): boolean => {
  const { errno, sqlMessage } = asMysqlError(error);
  return errno === duplicateEntry && (sqlMessage ?? '').endsWith(`for key '${table}.PRIMARY'`);
};

/**
 * The name of the unique key that an insert or update violated (`PRIMARY` or the index's name). Undefined for any
 * other error.
 */
export const duplicateKey = (error: unknown): string | undefined => {
  const { errno, sqlMessage } = asMysqlError(error);
  if (errno !== duplicateEntry) return undefined;
  return /for key '(?:[^']*\.)?([^'.]+)'$/.exec(sqlMessage ?? '')?.[1];
};
