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
