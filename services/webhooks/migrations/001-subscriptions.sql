CREATE TABLE subscriptions (
  company_id BIGINT UNSIGNED NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name VARCHAR(100),
  description VARCHAR(2000),
  url VARCHAR(500) COLLATE utf8mb4_0900_bin NOT NULL,
  -- An array of type names, in the order they were given.
  event_types JSON NOT NULL,
  enabled TINYINT(1) NOT NULL DEFAULT 1,
  managed_by VARCHAR(100),
  -- Why and since when it is off; null while it is on.
  disabled_reason VARCHAR(300),
  disabled_utc DATETIME(3),
  -- As `sealSecret` in proto/deliveries/sealed-secret.ts makes them. The previous one signs too until its time is over.
  secret VARBINARY(255) NOT NULL,
  previous_secret VARBINARY(255),
  previous_secret_until DATETIME(3),
  created_utc DATETIME(3) NOT NULL,
  updated_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, subscription_id),
  UNIQUE KEY subscription_id (subscription_id)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;

-- One row a subscription: when somebody has to look after its waiting deliveries, and how it fares. It is what
-- dispatchers lock and take turns on, so a backlog of any length is one row to whoever looks for work.
CREATE TABLE delivery_queues (
  company_id BIGINT UNSIGNED NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL,
  -- Null: nothing waits.
  next_due_utc DATETIME(3),
  -- Failed attempts in a row, over all events.
  consecutive_failures INT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, subscription_id),
  KEY next_due (next_due_utc)
);
