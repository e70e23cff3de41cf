CREATE TABLE client_notes (
  company_id BIGINT UNSIGNED NOT NULL,
  client_note_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  client_id BIGINT UNSIGNED NOT NULL,
  text TEXT NOT NULL,
  note_type VARCHAR(50) NOT NULL,
  visibility VARCHAR(50) NOT NULL,
  external_id VARCHAR(100) COLLATE utf8mb4_0900_bin,
  created_utc DATETIME(3) NOT NULL,
  updated_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, client_note_id),
  UNIQUE KEY client_note_id (client_note_id),
  UNIQUE KEY external_id (company_id, external_id),
  KEY client (company_id, client_id, client_note_id),
  CONSTRAINT note_client FOREIGN KEY (company_id, client_id) REFERENCES clients (company_id, client_id)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;

-- One row per change. The initial status of a record is `from_status_id` of its first row, or its current status if
-- there is no row.
CREATE TABLE client_status_history (
  company_id BIGINT UNSIGNED NOT NULL,
  client_id BIGINT UNSIGNED NOT NULL,
  change_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  from_status_id BIGINT UNSIGNED NOT NULL,
  to_status_id BIGINT UNSIGNED NOT NULL,
  changed_by_employee_id BIGINT UNSIGNED,
  status_note VARCHAR(2000),
  changed_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, client_id, change_id),
  UNIQUE KEY change_id (change_id),
  CONSTRAINT history_client FOREIGN KEY (company_id, client_id) REFERENCES clients (company_id, client_id),
  CONSTRAINT history_from FOREIGN KEY (from_status_id) REFERENCES statuses (status_id),
  CONSTRAINT history_to FOREIGN KEY (to_status_id) REFERENCES statuses (status_id),
  CONSTRAINT history_employee FOREIGN KEY (company_id, changed_by_employee_id)
    REFERENCES employees (company_id, employee_id)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;

-- Settings of a company; without a row it has the defaults.
CREATE TABLE company_settings (
  company_id BIGINT UNSIGNED NOT NULL,
  -- The status of a client that is created without one; null means `Client - Active`.
  default_client_status_id BIGINT UNSIGNED,
  PRIMARY KEY (company_id),
  CONSTRAINT settings_client_status FOREIGN KEY (default_client_status_id) REFERENCES statuses (status_id)
);
