-- What a subscription asks of its events and deliveries (contract, "Conditions" and "Pace, pause and headers"). Null: nothing.
-- `headers` is sealed like the signing secrets; `header_names` is what may be shown. `paused_utc`: its deliveries wait since then.
ALTER TABLE subscriptions
  ADD COLUMN conditions JSON,
  ADD COLUMN pace_limit SMALLINT UNSIGNED,
  ADD COLUMN pace_seconds TINYINT UNSIGNED,
  ADD COLUMN paused_utc DATETIME(3),
  ADD COLUMN paused_by VARCHAR(200),
  ADD COLUMN headers BLOB,
  ADD COLUMN header_names JSON,
  ALGORITHM = INSTANT;
-- The attempts that a subscription with a pace was granted lately: pairs of a time in milliseconds and a count.
ALTER TABLE delivery_queues ADD COLUMN paced JSON, ALGORITHM = INSTANT;
