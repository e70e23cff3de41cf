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
  PRIMARY KEY (company_id, share_id)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;
