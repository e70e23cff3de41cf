-- The delivery of an event to a subscription. `created_utc` is the time of the event. It is the same whenever the row
-- is written, so the key is unique over all partitions. Every query for an event includes its time, so that MySQL reads
-- only one partition.
CREATE TABLE deliveries (
  company_id BIGINT UNSIGNED NOT NULL,
  event_id BIGINT UNSIGNED NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL,
  -- 0: the event's own delivery. Otherwise the replay that created this one.
  replay_id BIGINT UNSIGNED NOT NULL DEFAULT 0,
  created_utc DATETIME(3) NOT NULL,
  event_type VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state ENUM ('waiting', 'held', 'succeeded', 'failed', 'dropped') NOT NULL DEFAULT 'waiting',
  -- Number of recorded attempts.
  attempts SMALLINT UNSIGNED NOT NULL DEFAULT 0,
  -- While waiting: when it is due. A dispatcher that takes the delivery moves this ahead, so it is also the lease; a
  -- changed value tells the dispatcher that it has lost the lease. Null in every other state.
  due_utc DATETIME(3),
  -- Result of the last attempt.
  last_status SMALLINT UNSIGNED,
  last_error VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin,
  updated_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, event_id, subscription_id, replay_id, created_utc),
  KEY due (company_id, subscription_id, due_utc),
  KEY of_subscription (company_id, subscription_id, event_id)
)
PARTITION BY RANGE COLUMNS (created_utc) (PARTITION future VALUES LESS THAN (MAXVALUE));

-- One row per attempt, written once. `created_utc` is the time of the event, as above.
CREATE TABLE delivery_attempts (
  company_id BIGINT UNSIGNED NOT NULL,
  event_id BIGINT UNSIGNED NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL,
  replay_id BIGINT UNSIGNED NOT NULL DEFAULT 0,
  attempt SMALLINT UNSIGNED NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  started_utc DATETIME(3) NOT NULL,
  elapsed_ms INT UNSIGNED NOT NULL,
  -- Null if this stage was not reached, or (dns, connect, tls) if the connection was already open.
  dns_ms INT UNSIGNED,
  connect_ms INT UNSIGNED,
  tls_ms INT UNSIGNED,
  first_byte_ms INT UNSIGNED,
  url VARCHAR(500) COLLATE utf8mb4_0900_bin NOT NULL,
  -- The address that was connected to.
  address VARCHAR(45) CHARACTER SET ascii COLLATE ascii_bin,
  status_code SMALLINT UNSIGNED,
  -- One of `errorClasses` in proto/deliveries/states.ts; null for a 2xx.
  error_class VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin,
  error VARCHAR(500),
  -- [[name, value], …] as sent and as received.
  request_headers JSON NOT NULL,
  response_headers JSON,
  response_body BLOB,
  response_truncated TINYINT(1) NOT NULL DEFAULT 0,
  -- When the delivery is due again; null after the last attempt.
  next_attempt_utc DATETIME(3),
  PRIMARY KEY (company_id, event_id, subscription_id, replay_id, attempt, created_utc)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci
PARTITION BY RANGE COLUMNS (created_utc) (PARTITION future VALUES LESS THAN (MAXVALUE));

-- Repeated deliveries, on request. A resend is a replay of one delivery.
CREATE TABLE replays (
  company_id BIGINT UNSIGNED NOT NULL,
  replay_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  subscription_id BIGINT UNSIGNED NOT NULL,
  kind ENUM ('resend', 'failed', 'missed', 'filter') NOT NULL,
  -- The filter as requested: {since, until, types, states, statusCodes, eventId}.
  filter JSON NOT NULL,
  state ENUM ('running', 'done', 'cancelled') NOT NULL DEFAULT 'running',
  -- Counted when the replay started.
  total INT UNSIGNED NOT NULL,
  -- Deliveries created so far, and their results, which the dispatchers count as they record them.
  made INT UNSIGNED NOT NULL DEFAULT 0,
  succeeded INT UNSIGNED NOT NULL DEFAULT 0,
  failed INT UNSIGNED NOT NULL DEFAULT 0,
  -- The last event that the replay has processed.
  position BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- When its next page is due; null if there is none.
  next_page_utc DATETIME(3),
  created_by VARCHAR(254),
  created_utc DATETIME(3) NOT NULL,
  finished_utc DATETIME(3),
  PRIMARY KEY (company_id, replay_id),
  UNIQUE KEY replay_id (replay_id),
  KEY next_page (next_page_utc),
  KEY of_subscription (company_id, subscription_id, replay_id)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;

-- Attempts per minute, added up by the dispatchers every few seconds, for dashboards. A killed dispatcher loses some
-- seconds of its counts; `delivery_attempts` is authoritative.
CREATE TABLE delivery_minutes (
  company_id BIGINT UNSIGNED NOT NULL,
  minute_utc DATETIME NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL,
  succeeded INT UNSIGNED NOT NULL DEFAULT 0,
  failed INT UNSIGNED NOT NULL DEFAULT 0,
  -- Number of attempts that took up to this many milliseconds, and more than the previous column.
  upto_10 INT UNSIGNED NOT NULL DEFAULT 0,
  upto_25 INT UNSIGNED NOT NULL DEFAULT 0,
  upto_50 INT UNSIGNED NOT NULL DEFAULT 0,
  upto_100 INT UNSIGNED NOT NULL DEFAULT 0,
  upto_250 INT UNSIGNED NOT NULL DEFAULT 0,
  upto_500 INT UNSIGNED NOT NULL DEFAULT 0,
  upto_1000 INT UNSIGNED NOT NULL DEFAULT 0,
  upto_2500 INT UNSIGNED NOT NULL DEFAULT 0,
  upto_5000 INT UNSIGNED NOT NULL DEFAULT 0,
  upto_10000 INT UNSIGNED NOT NULL DEFAULT 0,
  above INT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, minute_utc, subscription_id)
)
PARTITION BY RANGE COLUMNS (minute_utc) (PARTITION future VALUES LESS THAN (MAXVALUE));
