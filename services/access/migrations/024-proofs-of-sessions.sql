-- When the member last proved who they are in this session: by password, code or passkey. Null: at its beginning.
ALTER TABLE portal_sessions ADD COLUMN proved_utc DATETIME(3) NULL, ALGORITHM = INSTANT;
