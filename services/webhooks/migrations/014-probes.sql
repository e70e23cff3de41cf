-- No probe of a failing subscription begins before this time: its back-off, or the lease of the probe under way.
ALTER TABLE delivery_queues ADD COLUMN probe_due_utc DATETIME(3), ALGORITHM = INSTANT;
