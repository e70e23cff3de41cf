/**
 * What every connection agrees on before its first query, in one statement.
 *
 * READ COMMITTED: it takes no gap locks, so that concurrent inserts into neighbouring keys neither wait for
 * nor deadlock each other, and a batch sees what was committed a moment ago. The price is that a value read
 * twice in one transaction can differ: read `for update` what a decision hangs on.
 *
 * The lock wait is short because transactions here last milliseconds: a wait of seconds means that the
 * other side is stuck, and a caller with a deadline is better served by a new attempt.
 */
export const sessionSql = ({ lockWaitTimeoutS, selectTimeoutMs }: SessionLimits): string =>
  `SET time_zone = '+00:00', sql_mode = '${strictMode}', ` +
  `transaction_isolation = 'READ-COMMITTED', ` +
  `innodb_lock_wait_timeout = ${lockWaitTimeoutS}, max_execution_time = ${selectTimeoutMs}`;

export interface SessionLimits {
  readonly lockWaitTimeoutS: number;
  /** Ends a SELECT that runs longer; the server knows no such limit for writes. 0 is none. */
  readonly selectTimeoutMs: number;
}

/** A value that does not fit is refused, never cut or turned into another; backslashes escape, as mysql2 needs. */
const strictMode = [
  'STRICT_ALL_TABLES',
  'ONLY_FULL_GROUP_BY',
  'NO_ZERO_IN_DATE',
  'NO_ZERO_DATE',
  'ERROR_FOR_DIVISION_BY_ZERO',
  'NO_ENGINE_SUBSTITUTION',
].join(',');
