CREATE TABLE subscriptions (
  company_id BIGINT UNSIGNED NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name VARCHAR(100),
  description VARCHAR(2000),
  url VARCHAR(500) COLLATE utf8mb4_0900_bin NOT NULL,
  -- An array of type names, in the order of the request.
  event_types JSON NOT NULL,
  enabled TINYINT(1) NOT NULL DEFAULT 1,
  managed_by VARCHAR(100),
  -- The reason and time of disabling; null while enabled.
  disabled_reason VARCHAR(300),
  disabled_utc DATETIME(3),
  -- By the service, rather than a person or a tool.
  auto_disabled TINYINT(1) NOT NULL DEFAULT 0,
  -- Encrypted with `sealSecret` (proto/deliveries/sealed-secret.ts). The previous secret also signs until it expires.
  secret VARBINARY(255) NOT NULL,
  previous_secret VARBINARY(255),
  previous_secret_until DATETIME(3),
  created_utc DATETIME(3) NOT NULL,
  updated_utc DATETIME(3) NOT NULL,
  -- Null: the receiver is verified, or need not be. Otherwise the subscription is disabled until the receiver echoes a
  -- challenge. `pending`: the echo enables it. `required`: it was disabled by choice, and stays so until somebody enables
  -- it. The other two columns are about the last challenge: when its result arrived, and why it failed.
  verification ENUM ('pending', 'required'),
  challenged_utc DATETIME(3),
  challenge_failure VARCHAR(500),
  -- The API key of the tool that manages the subscription, which ends with it. Null: no tool manages it, or the key was revoked.
  key_id BIGINT UNSIGNED,
  -- From then on the subscription gets no events, and is removed. Null: never.
  expires_utc DATETIME(3),
  -- What a subscription asks of its events and deliveries (contract, "Conditions" and "Pace, pause and headers"). Null: nothing.
  -- `headers` is sealed like the signing secrets; `header_names` is what may be shown. `paused_utc`: its deliveries wait since then.
  conditions JSON,
  pace_limit SMALLINT UNSIGNED,
  pace_seconds TINYINT UNSIGNED,
  paused_utc DATETIME(3),
  paused_by VARCHAR(200),
  headers BLOB,
  header_names JSON,
  PRIMARY KEY (company_id, subscription_id),
  UNIQUE KEY subscription_id (subscription_id),
  KEY expires (expires_utc)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;

-- One row per subscription: when its waiting deliveries are due next, and its health. Dispatchers lock these rows and
-- take turns on them, so a backlog of any length is a single row to read.
CREATE TABLE delivery_queues (
  company_id BIGINT UNSIGNED NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL,
  -- Null: no delivery waits.
  next_due_utc DATETIME(3),
  -- Consecutive failed attempts, over all events.
  consecutive_failures INT UNSIGNED NOT NULL DEFAULT 0,
  -- Number of held deliveries of a subscription, for lists of subscriptions: counting the rows takes half a second for
  -- 300,000. A transaction that holds or releases deliveries changes it too. An attempt under way when its delivery was
  -- held can end it without changing the count, so after each change the rows are counted once such attempts are over.
  held_deliveries INT UNSIGNED NOT NULL DEFAULT 0,
  -- When to count the rows; null if the count is exact.
  count_held_utc DATETIME(3),
  -- All failed attempts since the last success, including those that `consecutive_failures` does not count.
  failed_attempts INT UNSIGNED NOT NULL DEFAULT 0,
  -- No probe of a failing subscription begins before this time: its back-off, or the lease of the probe under way.
  probe_due_utc DATETIME(3),
  -- The attempts that a subscription with a pace was granted lately: pairs of a time in milliseconds and a count.
  paced JSON,
  -- Which delivery the next probe of a failing subscription takes (contract, "Auto-disable"), and the event types that have failed since
  -- the last success, the latest last.
  probe_turn TINYINT UNSIGNED,
  failed_types JSON,
  -- The first counted failure since the last success. Null: there is none.
  failing_since_utc DATETIME(3),
  first_status SMALLINT UNSIGNED,
  first_error VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (company_id, subscription_id),
  KEY next_due (next_due_utc),
  KEY count_held (count_held_utc)
);

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
  -- The dispatcher that leases a waiting delivery until `due_utc`.
  leased_by INT UNSIGNED,
  PRIMARY KEY (company_id, event_id, subscription_id, replay_id, created_utc),
  -- It orders waiting deliveries by due time, and all others, which have none, by event.
  KEY by_state (company_id, subscription_id, state, due_utc, event_id, replay_id)
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
  -- The response's headers and body, packed together, so that the erasure of a person reaches both.
  response_body BLOB,
  response_truncated TINYINT(1) NOT NULL DEFAULT 0,
  -- When the delivery is due again; null after the last attempt.
  next_attempt_utc DATETIME(3),
  -- What of an attempt's request does not follow from its row (services/deliveries/stored-attempt.ts).
  sent VARBINARY(500) NOT NULL,
  PRIMARY KEY (company_id, event_id, subscription_id, replay_id, attempt, created_utc)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci
PARTITION BY RANGE COLUMNS (created_utc) (PARTITION future VALUES LESS THAN (MAXVALUE));

-- Repeated deliveries, on request. A resend is a replay of one delivery.
CREATE TABLE replays (
  company_id BIGINT UNSIGNED NOT NULL,
  replay_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  subscription_id BIGINT UNSIGNED NOT NULL,
  kind ENUM ('resend', 'failed', 'missed', 'filter', 'release', 'drop') NOT NULL,
  -- The filter as requested: {since, until, types, states, statusCodes, eventId}.
  filter JSON NOT NULL,
  state ENUM ('running', 'done', 'cancelled') NOT NULL DEFAULT 'running',
  -- Counted when the replay started.
  total INT UNSIGNED NOT NULL,
  -- Deliveries created, released or dropped so far, and their results, which the dispatchers count as they record them.
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

-- Keys of the service that must outlive every key of the key ring. They are encrypted with the ring like signing
-- secrets, for company 0.
CREATE TABLE sealed_keys (
  name VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  sealed VARBINARY(255) NOT NULL,
  PRIMARY KEY (name)
);

-- One row per company, which every create of a subscription changes first. Creates of one company thus run one after
-- another, and the quota of subscriptions is exact.
CREATE TABLE webhook_companies (
  company_id BIGINT UNSIGNED NOT NULL,
  -- Subscriptions ever created, deleted ones included.
  subscriptions_created INT UNSIGNED NOT NULL,
  -- Whether the company's new subscriptions, and those whose URL changes, need endpoint verification (contract,
  -- "Endpoint verification").
  verify_endpoints TINYINT(1) NOT NULL DEFAULT 0,
  -- The quota of waiting deliveries. `waiting_bound` is an upper bound of a company's waiting deliveries. A transaction
  -- that writes waiting deliveries raises it first, and nothing lowers it as they end. When it reaches the quota, the
  -- rows are counted and the bound is set to the count.
  waiting_bound BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- The ID of the transaction that raised it last.
  raise_id BIGINT UNSIGNED,
  -- The subscription with the longest backlog at the last count.
  longest_subscription_id BIGINT UNSIGNED,
  -- When to count the rows in the background next; during the count, the end of its lease.
  recount_utc DATETIME(3),
  PRIMARY KEY (company_id)
);

-- Events that a subscription missed because its company had reached the quota. The row is deleted when their replay begins.
CREATE TABLE missed_events (
  company_id BIGINT UNSIGNED NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL,
  missed BIGINT UNSIGNED NOT NULL,
  -- When the oldest of these events was created.
  since_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, subscription_id)
);

-- Changes of subscriptions that a dispatcher has yet to apply to their queues and deliveries. `webhooks` writes the row
-- in the transaction of the change; a dispatcher applies it and deletes it. Without the subscription, its waiting
-- deliveries are to be dropped.
CREATE TABLE subscription_changes (
  company_id BIGINT UNSIGNED NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL,
  -- When it was last created, disabled, enabled or deleted.
  changed_utc DATETIME(3) NOT NULL,
  -- Disabled then: deliveries of earlier events that still wait are to be held.
  hold_utc DATETIME(3),
  -- Enabled: its failures are to be set to zero.
  resets_failures TINYINT(1) NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, subscription_id),
  KEY changed (changed_utc)
);

-- The running dispatchers. Leases name them, and their beats show one another that they live
-- (services/dispatcher/README.md).
CREATE TABLE dispatchers (
  dispatcher_id INT UNSIGNED NOT NULL AUTO_INCREMENT,
  instance VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  beats BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- When the others gave it up because it was silent. The row is deleted when its leases are freed.
  given_up_utc DATETIME(3),
  -- The earliest end of a lease among the events of which the dispatcher makes deliveries that have no rows yet. While it
  -- beats, the others leave events to it whose leases have ended since (services/dispatcher/README.md).
  open_until_utc DATETIME(3),
  PRIMARY KEY (dispatcher_id)
);

-- Links to single deliveries for people without a session (contract, "Shared deliveries").
CREATE TABLE delivery_shares (
  company_id BIGINT UNSIGNED NOT NULL,
  -- Random, so that no counter is needed; it is a part of the token.
  share_id BIGINT UNSIGNED NOT NULL,
  -- SHA-256 of the token's secret.
  secret_hash BINARY(32) NOT NULL,
  event_id BIGINT UNSIGNED NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL,
  replay_id BIGINT UNSIGNED NOT NULL,
  created_by VARCHAR(254) NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  expires_utc DATETIME(3) NOT NULL,
  opened INT UNSIGNED NOT NULL DEFAULT 0,
  last_opened_utc DATETIME(3),
  -- The member who made the link.
  created_by_id BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (company_id, share_id)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;

-- A broken receiver, from its first counted failure in a row until it has caught up (contract, "Incidents"). Kept 90 days.
CREATE TABLE incidents (
  company_id BIGINT UNSIGNED NOT NULL,
  incident_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  subscription_id BIGINT UNSIGNED NOT NULL,
  since_utc DATETIME(3) NOT NULL,
  -- Of the first failure.
  first_status SMALLINT UNSIGNED,
  first_error VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- When it last began to fail, or was switched off.
  broken_utc DATETIME(3) NOT NULL,
  -- The first success after that; null: none yet.
  recovered_utc DATETIME(3),
  -- Null while it is open.
  until_utc DATETIME(3),
  -- A subscription has one open incident.
  is_open TINYINT AS (IF(until_utc IS NULL, 1, NULL)) STORED,
  PRIMARY KEY (company_id, incident_id),
  UNIQUE KEY incident_id (incident_id),
  UNIQUE KEY open_incident (company_id, subscription_id, is_open),
  KEY ended (until_utc)
);
