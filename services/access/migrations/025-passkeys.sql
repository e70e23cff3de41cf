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

-- How many passkeys the membership has: sign-ins and the check of each request read it with the member.
ALTER TABLE portal_users ADD COLUMN passkeys INT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM = INSTANT;
