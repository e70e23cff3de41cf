-- The IANA name of the zone in which members can see times; null: UTC.
ALTER TABLE companies ADD COLUMN time_zone VARCHAR(64) NULL, ALGORITHM = INSTANT;
