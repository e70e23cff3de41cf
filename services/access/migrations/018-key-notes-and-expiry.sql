-- `access` revokes a key when it expires, so that a gateway of an older release refuses it too.
ALTER TABLE api_keys ADD COLUMN note VARCHAR(500) NULL, ADD COLUMN expires_utc DATETIME(3) NULL, ALGORITHM = INSTANT;
ALTER TABLE api_keys ADD KEY api_keys_by_expiry (expires_utc), ALGORITHM = INPLACE, LOCK = NONE;
