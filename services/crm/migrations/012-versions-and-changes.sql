-- A version rises with each change of a value. The release before this one does not raise it; `changes/backfill.ts` does.
ALTER TABLE clients
  ADD COLUMN version INT UNSIGNED NOT NULL DEFAULT 1,
  ALGORITHM = INSTANT;
ALTER TABLE clients
  ADD KEY updated (company_id, updated_utc, client_id),
  ALGORITHM = INPLACE, LOCK = NONE;
ALTER TABLE employees
  ADD COLUMN version INT UNSIGNED NOT NULL DEFAULT 1,
  ALGORITHM = INSTANT;
ALTER TABLE employees
  ADD KEY updated (company_id, role_id, updated_utc, employee_id),
  ALGORITHM = INPLACE, LOCK = NONE;
ALTER TABLE client_notes
  ADD COLUMN version INT UNSIGNED NOT NULL DEFAULT 1,
  ALGORITHM = INSTANT;

-- The latest change of each person, affiliate and note. A row is written in the transaction of the change.
CREATE TABLE record_changes (
  company_id BIGINT UNSIGNED NOT NULL,
  type ENUM('person', 'affiliate', 'note') NOT NULL,
  record_id BIGINT UNSIGNED NOT NULL,
  -- 1, 2, 3, … in each company, in the order of commits; a later change of the record takes its row to a new number.
  sequence BIGINT UNSIGNED NOT NULL,
  version INT UNSIGNED NOT NULL,
  -- Who changed it: `key:<id>`, `member:<id>`, `operator` or `system`.
  origin VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  changed_utc DATETIME(3) NOT NULL,
  is_deleted BOOLEAN NOT NULL,
  PRIMARY KEY (company_id, type, record_id),
  KEY sequence (company_id, sequence)
);

-- The sequence of the company's last change of a record.
ALTER TABLE event_sequences ADD COLUMN last_change BIGINT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM = INSTANT;

-- Who caused the event, as in `record_changes`; null in events of the release before.
ALTER TABLE events ADD COLUMN origin VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin, ALGORITHM = INSTANT;
