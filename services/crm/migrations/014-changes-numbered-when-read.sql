-- A change gets its number in `record_changes` when somebody reads the company's changes (`number-changes.ts`), so that a
-- write pays for no row but its own.
ALTER TABLE clients
  -- Who changed it last: `key:<id>`, `member:<id>`, `operator` or `system`.
  ADD COLUMN origin VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'system',
  -- The version that has a number, and its `updated_utc`: the release before the versions raises only that.
  ADD COLUMN numbered_version INT UNSIGNED,
  ADD COLUMN numbered_utc DATETIME(3),
  ALGORITHM = INSTANT;
ALTER TABLE clients
  ADD COLUMN is_unnumbered BOOLEAN GENERATED ALWAYS AS (
    IF(numbered_version = version AND numbered_utc = updated_utc, NULL, TRUE)
  ) VIRTUAL,
  ALGORITHM = INSTANT;
ALTER TABLE clients
  ADD KEY unnumbered (company_id, is_unnumbered),
  ALGORITHM = INPLACE, LOCK = NONE;

ALTER TABLE employees
  ADD COLUMN origin VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'system',
  ADD COLUMN numbered_version INT UNSIGNED,
  ADD COLUMN numbered_utc DATETIME(3),
  ALGORITHM = INSTANT;
ALTER TABLE employees
  ADD COLUMN is_unnumbered BOOLEAN GENERATED ALWAYS AS (
    IF(role_id <> 6 OR (numbered_version = version AND numbered_utc = updated_utc), NULL, TRUE)
  ) VIRTUAL,
  ALGORITHM = INSTANT;
ALTER TABLE employees
  ADD KEY unnumbered (company_id, is_unnumbered),
  ALGORITHM = INPLACE, LOCK = NONE;

ALTER TABLE client_notes
  ADD COLUMN origin VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'system',
  ADD COLUMN numbered_version INT UNSIGNED,
  ADD COLUMN numbered_utc DATETIME(3),
  ALGORITHM = INSTANT;
ALTER TABLE client_notes
  ADD COLUMN is_unnumbered BOOLEAN GENERATED ALWAYS AS (
    IF(numbered_version = version AND numbered_utc = updated_utc, NULL, TRUE)
  ) VIRTUAL,
  ALGORITHM = INSTANT;
ALTER TABLE client_notes
  ADD KEY unnumbered (company_id, is_unnumbered),
  ALGORITHM = INPLACE, LOCK = NONE;

-- The last number that a company's changes have. Whoever numbers them locks the row.
CREATE TABLE change_sequences (
  company_id BIGINT UNSIGNED NOT NULL,
  last_sequence BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (company_id)
);
