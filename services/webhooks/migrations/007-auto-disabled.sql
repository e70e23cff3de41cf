-- Whether the service disabled the subscription automatically, rather than a person or a tool.
ALTER TABLE subscriptions ADD COLUMN auto_disabled TINYINT(1) NOT NULL DEFAULT 0 AFTER disabled_utc, ALGORITHM = INSTANT;
UPDATE subscriptions SET auto_disabled = 1 WHERE enabled = 0 AND disabled_reason NOT LIKE 'disabled through %';
