-- Whether the service switched a subscription off by itself; a person's or a tool's doing is not.
ALTER TABLE subscriptions ADD COLUMN auto_disabled TINYINT(1) NOT NULL DEFAULT 0 AFTER disabled_utc, ALGORITHM = INSTANT;
UPDATE subscriptions SET auto_disabled = 1 WHERE enabled = 0 AND disabled_reason NOT LIKE 'disabled through %';
