-- Company 0 holds the global statuses; a company's own add to its non-lead ones.
CREATE TABLE statuses (
  company_id BIGINT UNSIGNED NOT NULL,
  status_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  status_name VARCHAR(100) NOT NULL,
  is_lead BOOLEAN GENERATED ALWAYS AS (status_name LIKE 'Lead%') STORED NOT NULL,
  is_valid BOOLEAN NOT NULL DEFAULT TRUE,
  is_active BOOLEAN NOT NULL DEFAULT TRUE,
  color_code CHAR(7) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '#808080',
  is_listed BOOLEAN GENERATED ALWAYS AS (is_valid AND is_active) VIRTUAL NOT NULL,
  PRIMARY KEY (company_id, status_id),
  UNIQUE KEY status_id (status_id),
  -- Names of valid statuses are unique; names of invalid ones may be used again.
  UNIQUE KEY valid_name (company_id, (IF(is_valid, status_name, NULL))),
  KEY lookup (company_id, is_listed, status_name, status_id, is_lead, color_code),
  CONSTRAINT color_code_is_hex CHECK (REGEXP_LIKE(color_code, '^#[0-9a-f]{6}$'))
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;

INSERT INTO statuses (company_id, status_id, status_name, color_code) VALUES
  (0, 1, 'Lead - New', '#2f80ed'),
  (0, 2, 'Lead - Contacted', '#56ccf2'),
  (0, 3, 'Lead - Qualified', '#27ae60'),
  (0, 4, 'Lead - Appointment Set', '#9b51e0'),
  (0, 5, 'Lead - Proposal Sent', '#f2994a'),
  (0, 6, 'Lead - Nurturing', '#f2c94c'),
  (0, 7, 'Lead - Unresponsive', '#828282'),
  (0, 8, 'Lead - Lost', '#eb5757'),
  (0, 20, 'Client - Active', '#219653'),
  (0, 21, 'Client - Paused', '#f2c94c'),
  (0, 22, 'Client - Completed', '#4f4f4f');

-- IDs below 1000 are reserved for global statuses.
ALTER TABLE statuses AUTO_INCREMENT = 1000;
