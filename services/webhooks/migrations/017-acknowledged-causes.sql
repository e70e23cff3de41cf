-- Causes of failing deliveries that somebody looks after. Kept as long as the subscription.
CREATE TABLE acknowledged_causes (
  company_id BIGINT UNSIGNED NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL,
  -- An error class; `status` and `redirect` with the code that was answered, as in `status 503`.
  cause VARCHAR(30) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  acknowledged_utc DATETIME(3) NOT NULL,
  acknowledged_by VARCHAR(254) NOT NULL,
  PRIMARY KEY (company_id, subscription_id, cause)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;
