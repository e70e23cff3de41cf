-- Leads and clients are one record with one sequence of ids: a record is a lead while its status is one.
CREATE TABLE clients (
  company_id BIGINT UNSIGNED NOT NULL,
  client_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  status_id BIGINT UNSIGNED NOT NULL,
  first_name VARCHAR(100) NOT NULL,
  last_name VARCHAR(100) NOT NULL,
  email VARCHAR(254) COLLATE utf8mb4_0900_as_ci NOT NULL,
  phone VARCHAR(32),
  -- The digits in reverse order, so that a search by the end of a number is a prefix search.
  phone_reversed VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin GENERATED ALWAYS AS (
    NULLIF(REVERSE(REGEXP_REPLACE(phone, '[^0-9]', '')), '')
  ) VIRTUAL,
  city VARCHAR(100),
  state VARCHAR(64),
  zip VARCHAR(16),
  package_keyword VARCHAR(100),
  employee_id BIGINT UNSIGNED,
  affiliate_id BIGINT UNSIGNED,
  external_id VARCHAR(100) COLLATE utf8mb4_0900_bin,
  created_utc DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
  updated_utc DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
  PRIMARY KEY (company_id, client_id),
  UNIQUE KEY client_id (client_id),
  UNIQUE KEY external_id (company_id, external_id),
  KEY email (company_id, email),
  KEY phone_reversed (company_id, phone_reversed),
  CONSTRAINT client_status FOREIGN KEY (status_id) REFERENCES statuses (status_id),
  CONSTRAINT client_employee FOREIGN KEY (company_id, employee_id) REFERENCES employees (company_id, employee_id),
  CONSTRAINT client_affiliate FOREIGN KEY (company_id, affiliate_id) REFERENCES employees (company_id, employee_id)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;
