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
const unknownError = 1105;
const internalError = 1815;
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

/** vtgate has refused a transaction, or a statement that writes, because it concerns several shards. */
export const spansShards = (error: unknown): boolean =>
  asMysqlError(error).sqlMessage?.includes('multi-db transaction attempted') === true;

/** The connection is gone, so the server has rolled back its transaction. */
export const isConnectionLost = (error: unknown): boolean => {
  // It has the number of a query that was killed.
  if (spansShards(error)) return false;
  const { errno, code, fatal } = asMysqlError(error);
  return fatal === true || socketCodes.has(code ?? '') || connectionEndings.has(errno ?? 0);
};

/**
 * vtgate has refused the statement while a shard is split or gets another primary. It was not executed; a transaction is
 * rolled back.
 */
export const isShardSwitch = (error: unknown): boolean => {
  const { errno, sqlMessage } = asMysqlError(error);
  return (errno === unknownError || errno === internalError) && switchMessages.test(sqlMessage ?? '');
};

/** Of Vitess 24: go/vt/vterrors/constants.go, and `ClusterEvents` of go/vt/vtgate/buffer/buffer.go. */
const switchMessages = new RegExp(
  [
    'current keyspace is being resharded',
    'destination shard is missing after a resharding operation',
    // What vtgate answers if it held a statement back that commits by itself.
    "unexpected 'autocommitted' state in transaction",
    'primary is not serving',
    'disallowed due to rule',
    'no healthy tablet available',
    'operation not allowed in state (?:NOT_SERVING|SHUTTING_DOWN)',
    'tx engine can.t accept new connections',
    '(?:wrong|invalid) tablet type',
    'transaction \\S+ (?:ended|not found|in use)',
  ].join('|'),
);

/** The error is transient: the same statement may succeed later. */
export const isPassing = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable ||
  error instanceof CommitOutcomeUnknown ||
  isConnectionLost(error) ||
  isShardSwitch(error) ||
  isDeadlock(error) ||
  isLockWaitTimeout(error);

/** An insert met a row with the same primary key. */
export const isDuplicateRow = (error: unknown, table: string): boolean =>
  keyOf(error)?.endsWith(`${table}.PRIMARY`) === true;

/**
 * The name of the unique key that an insert or update violated (`PRIMARY` or the index's name). Undefined for any
 * other error.
 */
export const duplicateKey = (error: unknown): string | undefined => keyOf(error)?.split('.').at(-1);

/** The key of a duplicate entry, with its table. Vitess writes more before and after MySQL's message. */
const keyOf = (error: unknown): string | undefined => {
  const { errno, sqlMessage = '' } = asMysqlError(error);
  if (errno !== duplicateEntry) return undefined;
  return (/for key '([^']*)'$/.exec(sqlMessage) ?? /for key '([^']*)' \(errno 1062\)/.exec(sqlMessage))?.[1];
};
