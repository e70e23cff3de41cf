-- The secret before the latest rotation. While `previous_active`, it works until `previous_until_utc`; after that, this is when
-- it ended. A rotation replaces it only once every gateway has confirmed its end.
ALTER TABLE api_keys
  ADD COLUMN previous_hash BINARY(32) NULL,
  ADD COLUMN previous_last4 CHAR(4) CHARACTER SET ascii COLLATE ascii_bin NULL,
  ADD COLUMN previous_until_utc DATETIME(3) NULL,
  ADD COLUMN previous_active BOOLEAN NOT NULL DEFAULT FALSE,
  ALGORITHM = INSTANT;
ALTER TABLE api_keys ADD KEY api_keys_by_grace (previous_active, previous_until_utc), ALGORITHM = INPLACE, LOCK = NONE;
