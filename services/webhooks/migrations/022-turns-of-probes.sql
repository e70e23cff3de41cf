-- Which delivery the next probe of a failing subscription takes (contract, "Auto-disable"), and the event types that have failed since
-- the last success, the latest last.
ALTER TABLE delivery_queues
  ADD COLUMN probe_turn TINYINT UNSIGNED,
  ADD COLUMN failed_types JSON,
  ALGORITHM = INSTANT;
