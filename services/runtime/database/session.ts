/**
 * The statement that sets every connection's session before its first query.
 * READ COMMITTED takes no gap locks, so concurrent inserts into neighbouring keys neither wait for nor
 * deadlock each other. The price: read values that a decision depends on `for update`.
 * The lock wait is short because transactions here last milliseconds. The idle limit frees the locks of a
 * client that is frozen or cut off; the pool pings its idle connections more often.
 */
export const sessionSql = (
  { lockWaitTimeoutS, selectTimeoutMs, idleTimeoutS }: SessionLimits,
  isVtgate = false,
): string =>
  `SET time_zone = '+00:00', sql_mode = '${strictMode}', ` +
  `transaction_isolation = 'READ-COMMITTED', ` +
  `innodb_lock_wait_timeout = ${lockWaitTimeoutS}, max_execution_time = ${selectTimeoutMs}` +
  (idleTimeoutS === undefined ? '' : `, wait_timeout = ${idleTimeoutS}`) +
  (isVtgate ? '' : `, ${expected}`);

export interface SessionLimits {
  readonly lockWaitTimeoutS: number;
  /** 0 means no limit. */
  readonly selectTimeoutMs: number;
  readonly idleTimeoutS?: number;
}

/**
 * What a server may have been configured otherwise. The names of keys are read from messages in English. vtgate sets some of
 * these itself, and would keep a connection of its own for each client that sets the others.
 */
const expected = [
  'autocommit = 1',
  "completion_type = 'NO_CHAIN'",
  'transaction_read_only = 0',
  'character_set_client = utf8mb4',
  'character_set_results = utf8mb4',
  'collation_connection = utf8mb4_0900_ai_ci',
  'auto_increment_increment = 1',
  'auto_increment_offset = 1',
  'foreign_key_checks = 1',
  'unique_checks = 1',
  'sql_safe_updates = 0',
  'sql_select_limit = DEFAULT',
  'sql_auto_is_null = 0',
  'default_storage_engine = InnoDB',
  "lc_messages = 'en_US'",
].join(', ');

/** Backslashes escape, as mysql2 needs. */
const strictMode = [
  'STRICT_ALL_TABLES',
  'ONLY_FULL_GROUP_BY',
  'NO_ZERO_IN_DATE',
  'NO_ZERO_DATE',
  'ERROR_FOR_DIVISION_BY_ZERO',
  'NO_ENGINE_SUBSTITUTION',
].join(',');
