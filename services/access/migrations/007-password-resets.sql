-- Links with which members who lost their password choose a new one. A member has at most one; a new one replaces
-- it, and using it deletes it. As with sessions, only the token's SHA-256 is stored.
CREATE TABLE portal_password_resets (
  company_id BIGINT UNSIGNED NOT NULL,
  user_id BIGINT UNSIGNED NOT NULL,
  token_hash BINARY(32) NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  expires_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, user_id),
  UNIQUE KEY portal_password_resets_token (token_hash),
  KEY portal_password_resets_expires (expires_utc),
  CONSTRAINT portal_password_resets_user FOREIGN KEY (company_id, user_id)
    REFERENCES portal_users (company_id, id) ON DELETE CASCADE
);
