-- The lease on the event's fan-out (services/webhooks/fan-out); the row is deleted with the last of its first
-- deliveries. Null: no lease yet.
ALTER TABLE event_outbox ADD COLUMN leased_until DATETIME(3), ALGORITHM = INSTANT;
