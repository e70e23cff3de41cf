-- The running dispatchers. Leases name them, and their beats show one another that they live
-- (services/dispatcher/README.md).
CREATE TABLE dispatchers (
  dispatcher_id INT UNSIGNED NOT NULL AUTO_INCREMENT,
  instance VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  beats BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- When the others gave it up because it was silent. The row is deleted when its leases are freed.
  given_up_utc DATETIME(3),
  PRIMARY KEY (dispatcher_id)
);
-- The dispatcher that leases a waiting delivery until `due_utc`.
ALTER TABLE deliveries ADD COLUMN leased_by INT UNSIGNED, ALGORITHM = INSTANT;
