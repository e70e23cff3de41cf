-- Until when somebody sees to the event's first deliveries (services/webhooks/fan-out); the row goes with the last
-- of them. Null: nobody yet.
ALTER TABLE event_outbox ADD COLUMN leased_until DATETIME(3), ALGORITHM = INSTANT;
