-- The members who may sign in to the portal. Addresses are compared without case, but with accents.
-- `password_hash` is an argon2id string in PHC form.
CREATE TABLE portal_users (
  company_id BIGINT UNSIGNED NOT NULL,
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  email VARCHAR(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_ci NOT NULL,
  password_hash VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  role VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, id),
  UNIQUE KEY portal_users_id (id),
  UNIQUE KEY portal_users_email (email),
  CONSTRAINT portal_users_company FOREIGN KEY (company_id) REFERENCES companies (company_id)
);
