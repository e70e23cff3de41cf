-- Raised in each transaction that changes a subscription of the company. Every event is committed under the lock of
-- this row and carries the version, so a dispatcher knows whether its copy of the subscriptions is recent enough.
ALTER TABLE event_sequences
  ADD COLUMN subscriptions_version BIGINT UNSIGNED NOT NULL DEFAULT 0,
  ALGORITHM = INSTANT;
