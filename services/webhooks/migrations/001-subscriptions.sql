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
  -- Encrypted with `sealSecret` (proto/deliveries/sealed-secret.ts). The previous secret also signs until it expires.
  secret VARBINARY(255) NOT NULL,
  previous_secret VARBINARY(255),
  previous_secret_until DATETIME(3),
  created_utc DATETIME(3) NOT NULL,
  updated_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, subscription_id),
  UNIQUE KEY subscription_id (subscription_id)
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
  PRIMARY KEY (company_id, subscription_id),
  KEY next_due (next_due_utc)
);
