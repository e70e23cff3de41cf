-- The name of the call that a client's key was used for first; null for the name of a call. A gateway may send that call
-- again, and a client's own repetition has another name.
ALTER TABLE idempotency_keys ADD COLUMN call_id BINARY(16), ALGORITHM = INSTANT;
