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
const duplicateEntry = 1062;
const lockedNoWait = 3572;
const triggerRefused = 1419;
const unknownError = 1105;
const internalError = 1815;
const connectionEndings = new Set([1053, 1080, 1152, 1317, 3169, 4031]);
const socketCodes = new Set(['PROTOCOL_CONNECTION_LOST', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNABORTED']);

interface MysqlError {
  readonly errno?: number;
  readonly code?: string;
  readonly fatal?: boolean;
  readonly sqlMessage?: string;
}

const asMysqlError = (error: unknown): MysqlError => (error instanceof Error ? (error as MysqlError) : {});

export const isDeadlock = (error: unknown): boolean => asMysqlError(error).errno === deadlock;

/** A lock was not granted within `innodb_lock_wait_timeout`. Only the statement was rolled back. */
export const isLockWaitTimeout = (error: unknown): boolean => asMysqlError(error).errno === lockWaitTimeout;

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
export const isUnsent = (error: unknown): boolean =>
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

export const isPassing = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable ||
  error instanceof CommitOutcomeUnknown ||
  isConnectionLost(error) ||
  isShardSwitch(error) ||
  isDeadlock(error) ||
  isLockWaitTimeout(error);

export const isDuplicateRow = (error: unknown, table: string): boolean =>
  keyOf(error)?.endsWith(`${table}.PRIMARY`) === true;

export const duplicateKey = (error: unknown): string | undefined => keyOf(error)?.split('.').at(-1);

/** Vitess writes more before and after MySQL's message. */
const keyOf = (error: unknown): string | undefined => {
  const { errno, sqlMessage = '' } = asMysqlError(error);
  if (errno !== duplicateEntry) return undefined;
  return (/for key '([^']*)'$/.exec(sqlMessage) ?? /for key '([^']*)' \(errno 1062\)/.exec(sqlMessage))?.[1];
};
