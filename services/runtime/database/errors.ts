/** The server is unreachable, or every connection is busy. Can be retried. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  readonly kind: 'unreachable' | 'busy' | 'closed';

  constructor(kind: DatabaseUnavailable['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** The connection was lost between COMMIT and its answer: only the data can tell whether it was committed. */
export class CommitOutcomeUnknown extends Error {
  override readonly name = 'CommitOutcomeUnknown';
}

export class TenantGuardError extends Error {
  override readonly name = 'TenantGuardError';
}

/** Server errors by number: https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html */
const lockWaitTimeout = 1205;
const deadlock = 1213;
/** Group replication found a conflict with another member's transaction. */
const conflictAtCommit = 3101;
const duplicateEntry = 1062;
const lockedNoWait = 3572;
const triggerRefused = 1419;
const unknownError = 1105;
const internalError = 1815;
const timeLimit = 3024;
const packetTooLarge = 1153;
const connectionEndings = new Set([1053, 1077, 1079, 1080, 1152, 1317, 1927, 3032, 3169, 4031]);
const socketCodes = new Set(['PROTOCOL_CONNECTION_LOST', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNABORTED']);
/** Read only, so most likely another server is the primary now. */
const readOnly = new Set([1290, 1792, 1836]);
const outOfSpace = new Set([1021, 1114]);
/** These have the state of a wrong statement, but say that the server allows no more connections or queries. */
const connectionLimits = new Set([1040, 1203, 1226]);
/** SQLSTATE: more than one row, wrong value, constraint. The others have the state of all errors without one. */
const rowStates = /^2[123]/;
const rowErrors = new Set([1265, 1301, 1364, 1366, 3819, packetTooLarge]);
/** SQLSTATE: wrong statement, unknown table, no privilege, unsupported. */
const statementStates = /^(?:07|0A|42)/;

interface MysqlError {
  readonly errno?: number;
  readonly code?: string;
  readonly fatal?: boolean;
  readonly sqlMessage?: string;
  readonly sqlState?: string;
}

const asMysqlError = (error: unknown): MysqlError => (error instanceof Error ? (error as MysqlError) : {});

/** The server has rolled back the transaction in favour of another. */
export const isDeadlock = (error: unknown): boolean => {
  const { errno } = asMysqlError(error);
  return errno === deadlock || errno === conflictAtCommit;
};

/** A lock was not granted within `innodb_lock_wait_timeout`. Only the statement was rolled back. */
export const isLockWaitTimeout = (error: unknown): boolean => asMysqlError(error).errno === lockWaitTimeout;

/** A SELECT took longer than `max_execution_time`. */
export const isTimeLimit = (error: unknown): boolean => asMysqlError(error).errno === timeLimit;

/** Nothing was done. */
export const isReadOnly = (error: unknown): boolean => readOnly.has(asMysqlError(error).errno ?? 0);

/** The server works, but accepts no more connections. */
export const isConnectionLimit = (error: unknown): boolean =>
  connectionLimits.has(asMysqlError(error).errno ?? 0);

export const isLockedNoWait = (error: unknown): boolean => asMysqlError(error).errno === lockedNoWait;

/** With binary logging, MySQL lets only administrators create triggers, unless `log_bin_trust_function_creators` is on. */
export const isTriggerRefused = (error: unknown): boolean => asMysqlError(error).errno === triggerRefused;

export const spansShards = (error: unknown): boolean =>
  asMysqlError(error).sqlMessage?.includes('multi-db transaction attempted') === true;

/** The server has rolled back the transaction. */
export const isConnectionLost = (error: unknown): boolean => {
  // A transaction that spans shards has the error number of a killed query.
  if (spansShards(error)) return false;
  const { errno, code, fatal } = asMysqlError(error);
  return fatal === true || socketCodes.has(code ?? '') || connectionEndings.has(errno ?? 0);
};

/** The connection was closed before the statement: it was never sent. */
const isUnsent = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith("Can't add new command");

/** vtgate refuses statements while a shard is split or gets another primary. Nothing was executed. */
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

/** Repeated, the same row would be refused again. So would what the server never got, which is a fault of ours. */
export const isRowRefused = (error: unknown): boolean => {
  const { errno = 0, sqlState = '' } = asMysqlError(error);
  return !isOfDatabase(error) || rowErrors.has(errno) || rowStates.test(sqlState);
};

const isRefused = (error: unknown): boolean => {
  const { errno = 0, sqlState = '' } = asMysqlError(error);
  const isWrong = statementStates.test(sqlState) && !connectionLimits.has(errno);
  return isRowRefused(error) || isWrong || errno === triggerRefused || spansShards(error);
};

const isOfDatabase = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable ||
  error instanceof CommitOutcomeUnknown ||
  isConnectionLost(error) ||
  asMysqlError(error).sqlMessage !== undefined;

/** What the database answers to any statement while it is away, is replaced, or is full. Only what names its cause is not. */
export const isPassing = (error: unknown): boolean => !isRefused(error);

const isLocked = (error: unknown): boolean =>
  isDeadlock(error) || isLockWaitTimeout(error) || isLockedNoWait(error) || isTimeLimit(error);

/** The server cannot work now: any other statement would fail too, and a new connection may reach another server. */
export const isUnavailable = (error: unknown): boolean =>
  isPassing(error) && !isLocked(error) && !(error instanceof CommitOutcomeUnknown);

/** Whether a statement that commits was certainly not executed. */
export const isUndone = (error: unknown): boolean =>
  isUnsent(error) ||
  (!isConnectionLost(error) && (isRefused(error) || isLocked(error))) ||
  isReadOnly(error) ||
  outOfSpace.has(asMysqlError(error).errno ?? 0);

export const isDuplicateRow = (error: unknown, table: string): boolean =>
  keyOf(error)?.endsWith(`${table}.PRIMARY`) === true;

export const duplicateKey = (error: unknown): string | undefined => keyOf(error)?.split('.').at(-1);

/** Vitess writes more before and after MySQL's message. */
const keyOf = (error: unknown): string | undefined => {
  const { errno, sqlMessage = '' } = asMysqlError(error);
  if (errno !== duplicateEntry) return undefined;
  return (/for key '([^']*)'$/.exec(sqlMessage) ?? /for key '([^']*)' \(errno 1062\)/.exec(sqlMessage))?.[1];
};
