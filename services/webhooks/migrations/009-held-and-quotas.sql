-- How many deliveries of a subscription are held, for lists of subscriptions: counting the rows themselves takes
-- half a second for 300,000. Whoever holds or releases deliveries changes it in the same transaction. An attempt
-- that was under way when its delivery was held can end it without changing the count, so after each change the
-- rows are counted once, when such attempts are over.
ALTER TABLE delivery_queues
  ADD COLUMN held_deliveries INT UNSIGNED NOT NULL DEFAULT 0,
  -- When to count the rows; null where the count is exact.
  ADD COLUMN count_held_utc DATETIME(3),
  ALGORITHM = INSTANT;
ALTER TABLE delivery_queues ADD KEY count_held (count_held_utc), ALGORITHM = INPLACE, LOCK = NONE;
UPDATE delivery_queues SET count_held_utc = UTC_TIMESTAMP(3);

-- One row a company, which every create of a subscription changes first: creates of one company take turns, so the
-- quota of subscriptions is exact.
CREATE TABLE webhook_companies (
  company_id BIGINT UNSIGNED NOT NULL,
  -- Subscriptions ever created, deleted ones included.
  subscriptions_created INT UNSIGNED NOT NULL,
  PRIMARY KEY (company_id)
);
