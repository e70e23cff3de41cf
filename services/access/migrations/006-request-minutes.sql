-- API requests per minute, key and bucket, as the gateways report them; the overview shows them. A gateway that is
-- killed loses some seconds of its counts.
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
