-- The key itself is never stored: only its SHA-256 to find it, and its beginning and end to recognise it.
-- `scopes` is space-separated, as in RFC 6749, section 3.3.
CREATE TABLE api_keys (
  company_id BIGINT UNSIGNED NOT NULL,
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name VARCHAR(100) NOT NULL,
  key_hash BINARY(32) NOT NULL,
  prefix VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  last4 CHAR(4) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  scopes VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  limit_read INT UNSIGNED NULL,
  limit_write INT UNSIGNED NULL,
  limit_admin INT UNSIGNED NULL,
  is_active BOOLEAN NOT NULL DEFAULT TRUE,
  version BIGINT UNSIGNED NOT NULL DEFAULT 1,
  created_utc DATETIME(3) NOT NULL,
  revoked_utc DATETIME(3) NULL,
  last_used_utc DATETIME(3) NULL,
  PRIMARY KEY (company_id, id),
  UNIQUE KEY api_keys_id (id),
  UNIQUE KEY api_keys_key_hash (key_hash),
  CONSTRAINT api_keys_company FOREIGN KEY (company_id) REFERENCES companies (company_id)
);
