-- The person behind an address, and the second factor. `totp_secret` is sealed like signing secrets, with the
-- portal's own key ring; it takes effect with `totp_enabled`, and waits for its first code before that. `totp_step`
-- is the 30-second step of the last accepted code: each code works once (RFC 6238, section 5.2).
ALTER TABLE portal_users
  ADD COLUMN name VARCHAR(100) NOT NULL DEFAULT '' AFTER email,
  ADD COLUMN totp_secret VARBINARY(255) NULL,
  ADD COLUMN totp_enabled TINYINT(1) NOT NULL DEFAULT 0,
  ADD COLUMN totp_step BIGINT UNSIGNED NOT NULL DEFAULT 0,
  ADD COLUMN last_sign_in_utc DATETIME(3) NULL;

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
  PRIMARY KEY (company_id, session_id),
  UNIQUE KEY portal_sessions_id (session_id),
  UNIQUE KEY portal_sessions_token (token_hash),
  KEY portal_sessions_user (company_id, user_id),
  KEY portal_sessions_created (created_utc),
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
