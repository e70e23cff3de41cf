-- Requests by key, as the gateways report them, for seven days. Beyond ten in a second, those of one kind share a row:
-- `requests` counts them, and `request_id` and `address` are empty. `ids` are those of the path; other parts of a
-- path, query strings and bodies are not kept. A gateway that is killed loses some seconds of its log.
CREATE TABLE request_log (
  company_id BIGINT UNSIGNED NOT NULL,
  key_id BIGINT UNSIGNED NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  -- Unique for its gateway, so that a row that is written again is ignored.
  serial BIGINT UNSIGNED NOT NULL,
  operation VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  method VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  ids VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status SMALLINT UNSIGNED NOT NULL,
  duration_ms INT UNSIGNED NOT NULL,
  request_id VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  address VARCHAR(45) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  is_previous BOOLEAN NOT NULL,
  requests INT UNSIGNED NOT NULL,
  PRIMARY KEY (company_id, key_id, created_utc, serial)
)
PARTITION BY RANGE COLUMNS (created_utc) (PARTITION future VALUES LESS THAN (MAXVALUE));
