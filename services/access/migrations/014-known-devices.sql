-- The cookie of a known device is signed with this number: raising it makes all devices of the member unknown.
ALTER TABLE portal_users ADD COLUMN device_epoch INT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM = INSTANT;
