-- The quota of waiting deliveries. `waiting_bound` is an upper bound of a company's waiting deliveries. A transaction
-- that writes waiting deliveries raises it first, and nothing lowers it as they end. When it reaches the quota, the
-- rows are counted and the bound is set to the count.
ALTER TABLE webhook_companies
  ADD COLUMN waiting_bound BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- The ID of the transaction that raised it last.
  ADD COLUMN raise_id BIGINT UNSIGNED,
  -- The subscription with the longest backlog at the last count.
  ADD COLUMN longest_subscription_id BIGINT UNSIGNED,
  -- When to count the rows in the background next; during the count, the end of its lease.
  ADD COLUMN recount_utc DATETIME(3),
  ALGORITHM = INSTANT;
INSERT INTO webhook_companies (company_id, subscriptions_created, waiting_bound)
SELECT company_id, subscriptions, waiting FROM (
  SELECT q.company_id, COUNT(DISTINCT q.subscription_id) AS subscriptions, COUNT(d.event_id) AS waiting
  FROM delivery_queues AS q
  LEFT JOIN deliveries AS d
    ON d.company_id = q.company_id AND d.subscription_id = q.subscription_id AND d.state = 'waiting'
  GROUP BY q.company_id
) AS counted
ON DUPLICATE KEY UPDATE waiting_bound = counted.waiting;

-- Events that a subscription missed because its company had reached the quota. The row is deleted when their replay begins.
CREATE TABLE missed_events (
  company_id BIGINT UNSIGNED NOT NULL,
  subscription_id BIGINT UNSIGNED NOT NULL,
  missed BIGINT UNSIGNED NOT NULL,
  -- When the oldest of these events was created.
  since_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, subscription_id)
);

-- All failed attempts since the last success, including those that `consecutive_failures` does not count.
ALTER TABLE delivery_queues ADD COLUMN failed_attempts INT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM = INSTANT;
UPDATE delivery_queues SET failed_attempts = consecutive_failures WHERE consecutive_failures > 0;
