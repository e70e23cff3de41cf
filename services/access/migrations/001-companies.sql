-- The tenants. `version` grows with every change that the gateways' key table shows, so that of two writers of an
-- entry the one with the newer row wins.
CREATE TABLE companies (
  company_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name VARCHAR(200) NOT NULL,
  limit_read INT UNSIGNED NULL,
  limit_write INT UNSIGNED NULL,
  limit_admin INT UNSIGNED NULL,
  version BIGINT UNSIGNED NOT NULL DEFAULT 1,
  created_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id)
) AUTO_INCREMENT = 1001;
