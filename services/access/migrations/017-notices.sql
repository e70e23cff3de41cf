-- What members are told while they are away. A notice is written in the transaction of its cause; `cause` names the cause, so
-- that no cause is told twice. Until it is planned, `due_utc` says when `access` decides who is told; after that, notices
-- of one kind that were planned together share `group_id`, the ID of the first of them, and are told in one message.
CREATE TABLE notices (
  company_id BIGINT UNSIGNED NOT NULL,
  notice_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  kind VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  cause VARCHAR(150) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject_id BIGINT UNSIGNED NULL,
  subject_name VARCHAR(500) NOT NULL,
  -- The member whose rights or factors changed: told whatever their role is.
  user_id BIGINT UNSIGNED NULL,
  detail TEXT NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  due_utc DATETIME(3) NULL,
  planned_utc DATETIME(3) NULL,
  group_id BIGINT UNSIGNED NULL,
  PRIMARY KEY (company_id, notice_id),
  UNIQUE KEY notices_id (notice_id),
  UNIQUE KEY notices_cause (company_id, cause),
  KEY notices_due (due_utc),
  KEY notices_company_due (company_id, due_utc),
  KEY notices_planned (company_id, planned_utc),
  KEY notices_group (company_id, group_id),
  KEY notices_age (created_utc)
);

-- One message to one recipient: a group of notices, or a link in `sealed`. `due_utc` is the next attempt, or the end of the
-- lease of the process that sends it. A row is deleted when its message was accepted or given up, or its member leaves.
CREATE TABLE notice_sends (
  company_id BIGINT UNSIGNED NOT NULL,
  send_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  channel ENUM ('mail', 'webhook', 'slack') NOT NULL,
  group_id BIGINT UNSIGNED NULL,
  user_id BIGINT UNSIGNED NULL,
  -- A link's token, sealed with the portal's key ring.
  sealed VARBINARY(1000) NULL,
  attempts INT UNSIGNED NOT NULL DEFAULT 0,
  due_utc DATETIME(3) NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, send_id),
  UNIQUE KEY notice_sends_id (send_id),
  KEY notice_sends_due (channel, due_utc),
  KEY notice_sends_company_due (company_id, channel, due_utc),
  KEY notice_sends_user (company_id, user_id),
  CONSTRAINT notice_sends_user FOREIGN KEY (company_id, user_id)
    REFERENCES portal_users (company_id, id) ON DELETE CASCADE
);

-- Where a company's notices are posted. `webhooks` writes the rows, and seals the secret of the signed one.
CREATE TABLE notice_channels (
  company_id BIGINT UNSIGNED NOT NULL,
  channel ENUM ('webhook', 'slack') NOT NULL,
  url VARCHAR(500) NOT NULL,
  -- Names of notice kinds, separated by commas.
  kinds VARCHAR(500) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  secret VARBINARY(255) NULL,
  last_utc DATETIME(3) NULL,
  last_status SMALLINT UNSIGNED NULL,
  last_error VARCHAR(500) NULL,
  updated_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, channel)
);

-- `notice_mail`: a JSON object of the kinds that the member has chosen, true or false; the others follow the role. Notices that
-- were planned until `notices_read` have been read.
ALTER TABLE portal_users
  ADD COLUMN notice_mail VARCHAR(1000) CHARACTER SET ascii COLLATE ascii_bin NULL,
  ADD COLUMN notices_read DATETIME(3) NULL,
  ALGORITHM = INSTANT;
