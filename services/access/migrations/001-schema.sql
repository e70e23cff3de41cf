-- The tenants. `version` grows with every change that the gateways' key table shows, so that of two writers of an
-- entry the one with the newer row wins.
CREATE TABLE companies (
  company_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name VARCHAR(200) NOT NULL,
  limit_read INT UNSIGNED NULL,
  limit_write INT UNSIGNED NULL,
  limit_admin INT UNSIGNED NULL,
  -- Null: lookups count as reads.
  limit_lookup INT UNSIGNED NULL,
  version BIGINT UNSIGNED NOT NULL DEFAULT 1,
  created_utc DATETIME(3) NOT NULL,
  closed_utc DATETIME(3),
  -- Limits of a company until a time, as JSON: `{"untilMs": 1795500000000, "limits": {"write": 2000}}`. They end by themselves.
  temporary_limits VARCHAR(200) CHARACTER SET ascii NULL,
  -- Members without a second factor can do nothing but set one up.
  require_factor TINYINT(1) NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id)
) AUTO_INCREMENT = 1001;

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
  limit_lookup INT UNSIGNED NULL,
  is_active BOOLEAN NOT NULL DEFAULT TRUE,
  version BIGINT UNSIGNED NOT NULL DEFAULT 1,
  created_utc DATETIME(3) NOT NULL,
  revoked_utc DATETIME(3) NULL,
  last_used_utc DATETIME(3) NULL,
  note VARCHAR(500) NULL,
  -- `access` revokes the key then.
  expires_utc DATETIME(3) NULL,
  -- The secret before the latest rotation. While `previous_active`, it works until `previous_until_utc`; after that, this is when
  -- it ended. A rotation replaces it only once every gateway has confirmed its end.
  previous_hash BINARY(32) NULL,
  previous_last4 CHAR(4) CHARACTER SET ascii COLLATE ascii_bin NULL,
  previous_until_utc DATETIME(3) NULL,
  previous_active BOOLEAN NOT NULL DEFAULT FALSE,
  -- The networks that requests with the key may come from, in CIDR notation with blanks between them. Null: any.
  networks VARCHAR(2500) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- The key was active when its company was closed, and is so again when the company is opened.
  is_suspended TINYINT(1) NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, id),
  UNIQUE KEY api_keys_id (id),
  UNIQUE KEY api_keys_key_hash (key_hash),
  KEY api_keys_by_state (company_id, is_active, id),
  KEY api_keys_by_expiry (expires_utc),
  KEY api_keys_by_grace (previous_active, previous_until_utc),
  CONSTRAINT api_keys_company FOREIGN KEY (company_id) REFERENCES companies (company_id)
);

-- The members who may sign in to the portal. Addresses are compared without case, but with accents. An address is unique within
-- a company and may be a member of several: each membership has its own password and second factor (sessions/README.md).
-- `password_hash` is an argon2id string in PHC form.
CREATE TABLE portal_users (
  company_id BIGINT UNSIGNED NOT NULL,
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  email VARCHAR(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_ci NOT NULL,
  name VARCHAR(100) NOT NULL DEFAULT '',
  password_hash VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  role VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  -- Sealed like signing secrets, with the portal's own key ring; it takes effect with `totp_enabled`, and waits for its first
  -- code before that. `totp_step` is the 30-second step of the last accepted code: each works once (RFC 6238, section 5.2).
  totp_secret VARBINARY(255) NULL,
  totp_enabled TINYINT(1) NOT NULL DEFAULT 0,
  totp_step BIGINT UNSIGNED NOT NULL DEFAULT 0,
  last_sign_in_utc DATETIME(3) NULL,
  -- The cookie of a known device is signed with this number: raising it makes all devices of the member unknown.
  device_epoch INT UNSIGNED NOT NULL DEFAULT 0,
  -- `notice_mail`: a JSON object of the kinds that the member has chosen, true or false; the others follow the role. Notices that
  -- were planned until `notices_read` have been read.
  notice_mail VARCHAR(1000) CHARACTER SET ascii COLLATE ascii_bin NULL,
  notices_read DATETIME(3) NULL,
  -- How many passkeys the membership has: sign-ins and the check of each request read it with the member.
  passkeys INT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, id),
  UNIQUE KEY portal_users_id (id),
  UNIQUE KEY portal_users_email (company_id, email),
  KEY portal_users_address (email),
  CONSTRAINT portal_users_company FOREIGN KEY (company_id) REFERENCES companies (company_id)
);

-- Single-use codes for signing in without the authenticator app. SHA-256 is enough: a code has 80 random bits.
CREATE TABLE portal_recovery_codes (
  company_id BIGINT UNSIGNED NOT NULL,
  user_id BIGINT UNSIGNED NOT NULL,
  code_hash BINARY(32) NOT NULL,
  PRIMARY KEY (company_id, user_id, code_hash),
  CONSTRAINT portal_recovery_codes_user FOREIGN KEY (company_id, user_id)
    REFERENCES portal_users (company_id, id) ON DELETE CASCADE
);

-- Sessions of the portal. Of the cookie's token only the SHA-256 is stored. Ending a session deletes its row; an
-- expired row is ignored, and the cleanup deletes it later.
CREATE TABLE portal_sessions (
  company_id BIGINT UNSIGNED NOT NULL,
  session_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  user_id BIGINT UNSIGNED NOT NULL,
  token_hash BINARY(32) NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  last_used_utc DATETIME(3) NOT NULL,
  address VARCHAR(45) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_agent VARCHAR(300) NOT NULL,
  -- One sign-in can open several companies: it creates a session for each, and these share `sign_in`. States:
  -- `open`: the browser has its token; `ready`: the member can switch to it; `code`: the member can switch to it with
  -- a code of that membership's second factor. Only tokens of open sessions are ever handed out.
  sign_in BINARY(16) NULL,
  state VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'open',
  -- When the member last proved who they are in this session: by password, code or passkey. Null: at its beginning.
  proved_utc DATETIME(3) NULL,
  PRIMARY KEY (company_id, session_id),
  UNIQUE KEY portal_sessions_id (session_id),
  UNIQUE KEY portal_sessions_token (token_hash),
  KEY portal_sessions_user (company_id, user_id),
  KEY portal_sessions_created (created_utc),
  KEY portal_sessions_sign_in (sign_in),
  CONSTRAINT portal_sessions_user FOREIGN KEY (company_id, user_id)
    REFERENCES portal_users (company_id, id) ON DELETE CASCADE
);

-- Open invitations. An address has at most one in a company; a new one replaces it.
CREATE TABLE portal_invitations (
  company_id BIGINT UNSIGNED NOT NULL,
  invitation_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  email VARCHAR(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_ci NOT NULL,
  role VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  token_hash BINARY(32) NOT NULL,
  -- The member who invited, and their name at that time: they may be gone.
  invited_by BIGINT UNSIGNED NOT NULL,
  invited_by_name VARCHAR(254) NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  expires_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, invitation_id),
  UNIQUE KEY portal_invitations_id (invitation_id),
  UNIQUE KEY portal_invitations_token (token_hash),
  UNIQUE KEY portal_invitations_email (company_id, email),
  CONSTRAINT portal_invitations_company FOREIGN KEY (company_id) REFERENCES companies (company_id)
);

-- Failed sign-in attempts, by account and by network address, each as a SHA-256 so that the table identifies
-- nobody. Accounts that do not exist have rows like any other.
CREATE TABLE sign_in_delays (
  subject BINARY(32) NOT NULL,
  failures INT UNSIGNED NOT NULL,
  last_attempt_utc DATETIME(3) NOT NULL,
  next_attempt_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (subject),
  KEY sign_in_delays_age (last_attempt_utc)
);

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
  KEY audit_log_actor (company_id, actor_kind, actor_id, audit_id),
  -- Finds the entries older than AUDIT_DAYS, and skips those that stay without reading their rows.
  KEY audit_log_age (created_utc, action)
);

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
  -- Of a row that stands for an hour, which begins at `minute_utc`: the requests of its busiest minute. 0: the row is of one minute.
  peak INT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, minute_utc, key_id, bucket),
  KEY request_minutes_age (minute_utc)
);

-- Links with which members who lost their password choose a new one. A member has at most one; a new one replaces
-- it, and using it deletes it. As with sessions, only the token's SHA-256 is stored.
CREATE TABLE portal_password_resets (
  company_id BIGINT UNSIGNED NOT NULL,
  user_id BIGINT UNSIGNED NOT NULL,
  token_hash BINARY(32) NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  expires_utc DATETIME(3) NOT NULL,
  -- The member who made the link: it ends when they are removed or lose their role. Null: an
  -- operator.
  made_by BIGINT UNSIGNED NULL,
  PRIMARY KEY (company_id, user_id),
  UNIQUE KEY portal_password_resets_token (token_hash),
  KEY portal_password_resets_expires (expires_utc),
  CONSTRAINT portal_password_resets_user FOREIGN KEY (company_id, user_id)
    REFERENCES portal_users (company_id, id) ON DELETE CASCADE
);

-- Revoked keys whose subscriptions are to be switched off. The row is written in the transaction of the
-- revocation. `webhooks` deletes it some minutes later: a request of the key may still be under way.
CREATE TABLE key_revocations (
  company_id BIGINT UNSIGNED NOT NULL,
  key_id BIGINT UNSIGNED NOT NULL,
  revoked_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, key_id)
);

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
  KEY notices_age (created_utc),
  KEY notices_created (company_id, created_utc)
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
  PRIMARY KEY (company_id, key_id, created_utc, serial),
  -- Counts the requests of a company by operation from the index alone, in its order: a third of the time that the rows take.
  -- The operation comes before the key, so that lists of one key keep to the primary key.
  KEY request_log_by_operation (company_id, operation, key_id, method, created_utc, status, requests)
)
PARTITION BY RANGE COLUMNS (created_utc) (PARTITION future VALUES LESS THAN (MAXVALUE));

-- Passkeys of a membership (WebAuthn). `passkey_id` is random. A credential is found by its SHA-256, because its own id may
-- be longer than an index takes; the membership comes from the user handle, so the look-up stays within one company.
CREATE TABLE portal_passkeys (
  company_id BIGINT UNSIGNED NOT NULL,
  passkey_id BIGINT UNSIGNED NOT NULL,
  user_id BIGINT UNSIGNED NOT NULL,
  name VARCHAR(100) NOT NULL,
  credential_hash BINARY(32) NOT NULL,
  credential_id VARBINARY(1023) NOT NULL,
  public_key VARBINARY(2048) NOT NULL,
  sign_count BIGINT UNSIGNED NOT NULL,
  transports VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  last_used_utc DATETIME(3) NULL,
  PRIMARY KEY (company_id, passkey_id),
  UNIQUE KEY portal_passkeys_credential (company_id, user_id, credential_hash),
  CONSTRAINT portal_passkeys_user FOREIGN KEY (company_id, user_id)
    REFERENCES portal_users (company_id, id) ON DELETE CASCADE
);

-- Links that were mailed within the last hour, by the SHA-256 of the address. A row outlives its link: links that are revoked
-- and made again count too.
CREATE TABLE link_mails (
  company_id BIGINT UNSIGNED NOT NULL,
  mailed_utc DATETIME(3) NOT NULL,
  address_hash BINARY(32) NOT NULL,
  PRIMARY KEY (company_id, mailed_utc, address_hash),
  KEY link_mails_age (mailed_utc)
);

-- Members who lost rights: `webhooks` ends what they made and may not make any more, except what is kept. The row is written in
-- the transaction of the removal or of the new role; `webhooks` deletes it a minute later, as a request of the member may
-- still be under way. `done_utc`: what they had made by then has ended.
CREATE TABLE member_endings (
  company_id BIGINT UNSIGNED NOT NULL,
  member_id BIGINT UNSIGNED NOT NULL,
  ended_utc DATETIME(3) NOT NULL,
  due_utc DATETIME(3) NOT NULL,
  done_utc DATETIME(3) NULL,
  -- JSON: what ends, what is kept, and who decided it.
  ending TEXT NOT NULL,
  -- JSON: the subscriptions that were switched off, so that nobody who enables one again is undone.
  switched_off TEXT NULL,
  PRIMARY KEY (company_id, member_id),
  KEY member_endings_due (due_utc)
);
