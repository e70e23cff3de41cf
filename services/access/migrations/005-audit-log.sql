-- Who changed what. Rows are only added; names are as they were at the time. `before_json` and `after_json` hold
-- the changed fields and never a secret.
CREATE TABLE audit_log (
  company_id BIGINT UNSIGNED NOT NULL,
  audit_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  created_utc DATETIME(3) NOT NULL,
  actor_kind VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  actor_id BIGINT UNSIGNED NULL,
  actor_name VARCHAR(254) NOT NULL,
  action VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  target_kind VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  target_id VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NULL,
  target_name VARCHAR(500) NOT NULL,
  before_json TEXT NULL,
  after_json TEXT NULL,
  address VARCHAR(45) CHARACTER SET ascii COLLATE ascii_bin NULL,
  user_agent VARCHAR(300) NULL,
  request_id VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (company_id, audit_id),
  UNIQUE KEY audit_log_id (audit_id),
  KEY audit_log_action (company_id, action, audit_id),
  KEY audit_log_target (company_id, target_kind, target_id, audit_id),
  KEY audit_log_actor (company_id, actor_kind, actor_id, audit_id)
);
