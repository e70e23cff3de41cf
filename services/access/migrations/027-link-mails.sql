-- The portal lists notices as soon as they are written, and counts those that came after the latest one that was read.
ALTER TABLE notices ADD KEY notices_created (company_id, created_utc), ALGORITHM = INPLACE, LOCK = NONE;

-- Links that were mailed within the last hour, by the SHA-256 of the address. A row outlives its link: links that are revoked
-- and made again count too.
CREATE TABLE link_mails (
  company_id BIGINT UNSIGNED NOT NULL,
  mailed_utc DATETIME(3) NOT NULL,
  address_hash BINARY(32) NOT NULL,
  PRIMARY KEY (company_id, mailed_utc, address_hash),
  KEY link_mails_age (mailed_utc)
);
