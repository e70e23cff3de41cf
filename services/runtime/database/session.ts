/**
 * The statement that sets every connection's session before its first query.
 * READ COMMITTED takes no gap locks, so concurrent inserts into neighbouring keys neither wait for nor
 * deadlock each other. The price: read values that a decision depends on `for update`.
 * The lock wait is short because transactions here last milliseconds. The idle limit frees the locks of a
 * client that is frozen or cut off; the pool pings its idle connections more often.
 */
export const sessionSql = ({ lockWaitTimeoutS, selectTimeoutMs, idleTimeoutS }: SessionLimits): string =>
  `SET time_zone = '+00:00', sql_mode = '${strictMode}', ` +
  `transaction_isolation = 'READ-COMMITTED', ` +
  `innodb_lock_wait_timeout = ${lockWaitTimeoutS}, max_execution_time = ${selectTimeoutMs}` +
  (idleTimeoutS === undefined ? '' : `, wait_timeout = ${idleTimeoutS}`);

export interface SessionLimits {
  readonly lockWaitTimeoutS: number;
  /** 0 means no limit. */
  readonly selectTimeoutMs: number;
  readonly idleTimeoutS?: number;
}

/** Backslashes escape, as mysql2 needs. */
const strictMode = [
  'STRICT_ALL_TABLES',
  'ONLY_FULL_GROUP_BY',
  'NO_ZERO_IN_DATE',
  'NO_ZERO_DATE',
  'ERROR_FOR_DIVISION_BY_ZERO',
  'NO_ENGINE_SUBSTITUTION',
].join(',');
