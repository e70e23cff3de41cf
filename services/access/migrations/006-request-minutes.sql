-- Requests of the interface, added up by minute, key and bucket as the gateways report them; what the overview
-- shows. A killed gateway takes seconds of it along.
CREATE TABLE request_minutes (
  company_id BIGINT UNSIGNED NOT NULL,
  minute_utc DATETIME NOT NULL,
  key_id BIGINT UNSIGNED NOT NULL,
  bucket ENUM ('read', 'write', 'admin', 'lookup') NOT NULL,
  answered INT UNSIGNED NOT NULL DEFAULT 0,
  limited INT UNSIGNED NOT NULL DEFAULT 0,
  failed INT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, minute_utc, key_id, bucket),
  KEY request_minutes_age (minute_utc)
);
