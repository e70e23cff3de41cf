-- A broken receiver, from its first counted failure in a row until it has caught up (contract, "Incidents"). Kept 90 days.
CREATE TABLE incidents (
  company_id BIGINT UNSIGNED NOT NULL,
  incident_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  subscription_id BIGINT UNSIGNED NOT NULL,
  since_utc DATETIME(3) NOT NULL,
  -- Of the first failure.
  first_status SMALLINT UNSIGNED,
  first_error VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- When it last began to fail, or was switched off.
  broken_utc DATETIME(3) NOT NULL,
  -- The first success after that; null: none yet.
  recovered_utc DATETIME(3),
  -- Null while it is open.
  until_utc DATETIME(3),
  -- A subscription has one open incident.
  is_open TINYINT AS (IF(until_utc IS NULL, 1, NULL)) STORED,
  PRIMARY KEY (company_id, incident_id),
  UNIQUE KEY incident_id (incident_id),
  UNIQUE KEY open_incident (company_id, subscription_id, is_open),
  KEY ended (until_utc)
);
-- The first counted failure since the last success. Null: there is none, or a process of the release before counted it.
ALTER TABLE delivery_queues
  ADD COLUMN failing_since_utc DATETIME(3),
  ADD COLUMN first_status SMALLINT UNSIGNED,
  ADD COLUMN first_error VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin,
  ALGORITHM = INSTANT;
