-- Number of held deliveries of a subscription, for lists of subscriptions: counting the rows takes half a second for
-- 300,000. A transaction that holds or releases deliveries changes it too. An attempt under way when its delivery was
-- held can end it without changing the count, so after each change the rows are counted once such attempts are over.
ALTER TABLE delivery_queues
  ADD COLUMN held_deliveries INT UNSIGNED NOT NULL DEFAULT 0,
  -- When to count the rows; null if the count is exact.
  ADD COLUMN count_held_utc DATETIME(3),
  ALGORITHM = INSTANT;
ALTER TABLE delivery_queues ADD KEY count_held (count_held_utc), ALGORITHM = INPLACE, LOCK = NONE;
UPDATE delivery_queues SET count_held_utc = UTC_TIMESTAMP(3);

-- One row per company, which every create of a subscription changes first. Creates of one company thus run one after
-- another, and the quota of subscriptions is exact.
CREATE TABLE webhook_companies (
  company_id BIGINT UNSIGNED NOT NULL,
  -- Subscriptions ever created, deleted ones included.
  subscriptions_created INT UNSIGNED NOT NULL,
  PRIMARY KEY (company_id)
);
