-- Employees and affiliates are one table: an affiliate is an employee of role 6, and its id is an employee id.
CREATE TABLE employees (
  company_id BIGINT UNSIGNED NOT NULL,
  employee_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  role_id INT UNSIGNED NOT NULL,
  first_name VARCHAR(100) NOT NULL,
  last_name VARCHAR(100) NOT NULL,
  full_name VARCHAR(201) GENERATED ALWAYS AS (CONCAT(first_name, ' ', last_name)) VIRTUAL NOT NULL,
  email VARCHAR(254) COLLATE utf8mb4_0900_as_ci NOT NULL,
  phone VARCHAR(32),
  is_active BOOLEAN NOT NULL DEFAULT TRUE,
  is_approved BOOLEAN NOT NULL DEFAULT FALSE,
  affiliate_code VARCHAR(100) COLLATE utf8mb4_0900_as_ci,
  commission_rate DECIMAL(5, 2),
  affiliate_company_name VARCHAR(200),
  external_id VARCHAR(100) COLLATE utf8mb4_0900_bin,
  created_utc DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
  updated_utc DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
  -- The lookup that shows this person; the rule is here once, and the index below holds only its result.
  listed_as VARCHAR(9) CHARACTER SET ascii COLLATE ascii_bin GENERATED ALWAYS AS (
    CASE
      WHEN NOT is_active THEN NULL
      WHEN role_id <> 6 THEN 'employee'
      WHEN is_approved THEN 'affiliate'
    END
  ) VIRTUAL,
  PRIMARY KEY (company_id, employee_id),
  UNIQUE KEY employee_id (employee_id),
  UNIQUE KEY affiliate_code (company_id, affiliate_code),
  UNIQUE KEY external_id (company_id, external_id),
  KEY lookup (company_id, listed_as, full_name, employee_id)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;
