-- The API key of the tool that manages the subscription, which ends with it. Null: no tool manages it, an older release
-- wrote the row, or the key was revoked.
-- From `expires_utc` on, the subscription gets no events, and is removed. Null: never.
ALTER TABLE subscriptions
  ADD COLUMN key_id BIGINT UNSIGNED,
  ADD COLUMN expires_utc DATETIME(3),
  ALGORITHM = INSTANT;
ALTER TABLE subscriptions ADD KEY expires (expires_utc), ALGORITHM = INPLACE, LOCK = NONE;
