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
  version INT UNSIGNED NOT NULL DEFAULT 1,
  origin VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'system',
  numbered_version INT UNSIGNED,
  numbered_utc DATETIME(3),
  is_unnumbered BOOLEAN GENERATED ALWAYS AS (
    IF(role_id <> 6 OR (numbered_version = version AND numbered_utc = updated_utc), NULL, TRUE)
  ) VIRTUAL,
  PRIMARY KEY (company_id, employee_id),
  UNIQUE KEY employee_id (employee_id),
  UNIQUE KEY affiliate_code (company_id, affiliate_code),
  UNIQUE KEY external_id (company_id, external_id),
  KEY lookup (company_id, listed_as, full_name, employee_id),
  KEY updated (company_id, role_id, updated_utc, employee_id),
  KEY unnumbered (company_id, is_unnumbered)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;

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
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci
-- Ids below 1000 are reserved for global statuses.
AUTO_INCREMENT = 1000;

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
  -- It rises with each change of a value.
  version INT UNSIGNED NOT NULL DEFAULT 1,
  -- Who changed it last: `key:<id>`, `member:<id>`, `operator` or `system`.
  origin VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'system',
  -- The version that has a number in `record_changes`, and its `updated_utc`. It gets one when somebody reads the company's
  -- changes (`number-changes.ts`), so that a write pays for no row but its own.
  numbered_version INT UNSIGNED,
  numbered_utc DATETIME(3),
  is_unnumbered BOOLEAN GENERATED ALWAYS AS (
    IF(numbered_version = version AND numbered_utc = updated_utc, NULL, TRUE)
  ) VIRTUAL,
  -- The digits before an extension, without `(0)`, in reverse order; only of numbers that have one of the two.
  phone_main_reversed VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin GENERATED ALWAYS AS (
    IF(
      phone LIKE '%(0)%' OR phone LIKE '%x%' OR phone LIKE '%#%' OR phone LIKE '%int%',
      NULLIF(REVERSE(REGEXP_REPLACE(REGEXP_REPLACE(REPLACE(phone, '(0)', ''), '(int|[x#]).*', ''), '[^0-9]', '')), ''),
      NULL
    )
  ) VIRTUAL,
  PRIMARY KEY (company_id, client_id),
  UNIQUE KEY client_id (client_id),
  UNIQUE KEY external_id (company_id, external_id),
  KEY email (company_id, email),
  KEY phone_reversed (company_id, phone_reversed),
  KEY updated (company_id, updated_utc, client_id),
  KEY unnumbered (company_id, is_unnumbered),
  KEY phone_main_reversed (company_id, phone_main_reversed),
  CONSTRAINT client_status FOREIGN KEY (status_id) REFERENCES statuses (status_id),
  CONSTRAINT client_employee FOREIGN KEY (company_id, employee_id) REFERENCES employees (company_id, employee_id),
  CONSTRAINT client_affiliate FOREIGN KEY (company_id, affiliate_id) REFERENCES employees (company_id, employee_id)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;

-- The index of the client search; `search/indexer.ts` explains how the four tables work together. It can be
-- rebuilt from `clients`.

-- Clients whose current name or email the index does not hold yet. A row is inserted in the transaction that
-- creates or renames a client, and never updated: `mark` distinguishes a second change from one being indexed.
CREATE TABLE client_search_pending (
  company_id BIGINT UNSIGNED NOT NULL,
  client_id BIGINT UNSIGNED NOT NULL,
  mark BIGINT UNSIGNED NOT NULL DEFAULT (FLOOR(RAND() * 9007199254740991)),
  PRIMARY KEY (company_id, client_id, mark)
);

-- The chunk that a company is filling: its number, its number of entries, and their texts in order.
CREATE TABLE client_search_tails (
  company_id BIGINT UNSIGNED NOT NULL,
  chunk INT UNSIGNED NOT NULL DEFAULT 0,
  entries INT UNSIGNED NOT NULL DEFAULT 0,
  texts MEDIUMBLOB NOT NULL,
  PRIMARY KEY (company_id)
);

-- The client of each entry; entry = chunk * 4096 + place in the chunk.
CREATE TABLE client_search_entries (
  company_id BIGINT UNSIGNED NOT NULL,
  entry INT UNSIGNED NOT NULL,
  client_id BIGINT UNSIGNED NOT NULL,
  -- The version of the folding (`search/fold.ts`) that an entry was indexed with. Releases that do not know it write none.
  folding TINYINT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, entry),
  KEY folding (folding, company_id, entry),
  -- Which entries of the search index are a client's, to compact it and to erase people.
  KEY client (company_id, client_id)
);

-- Per full chunk and three bytes of text: where in the chunk they occur, in the format of `search/postings.ts`.
-- Written once. The chunk comes before the gram in the key, so that a chunk's rows are contiguous.
CREATE TABLE client_search_postings (
  company_id BIGINT UNSIGNED NOT NULL,
  chunk INT UNSIGNED NOT NULL,
  gram BINARY(3) NOT NULL,
  occurrences MEDIUMBLOB NOT NULL,
  PRIMARY KEY (company_id, chunk, gram)
);

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
  version INT UNSIGNED NOT NULL DEFAULT 1,
  origin VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'system',
  numbered_version INT UNSIGNED,
  numbered_utc DATETIME(3),
  is_unnumbered BOOLEAN GENERATED ALWAYS AS (
    IF(numbered_version = version AND numbered_utc = updated_utc, NULL, TRUE)
  ) VIRTUAL,
  PRIMARY KEY (company_id, client_note_id),
  UNIQUE KEY client_note_id (client_note_id),
  UNIQUE KEY external_id (company_id, external_id),
  KEY client (company_id, client_id, client_note_id),
  KEY unnumbered (company_id, is_unnumbered)
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

-- The event log. A row is written in the transaction of its cause and never changed; `events/event-log.ts`
-- explains how sequences are assigned. The time is part of the key, so that the log can be partitioned by it and
-- trimmed by dropping partitions; `event_sequences` makes (company_id, sequence) unique.
CREATE TABLE events (
  company_id BIGINT UNSIGNED NOT NULL,
  -- 1, 2, 3, … in each company, in the order of commits.
  sequence BIGINT UNSIGNED NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  -- The envelope's id.
  event_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  type VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The JSON exactly as delivered; the JSON type would reorder it.
  payload MEDIUMBLOB NOT NULL,
  -- Who caused the event, as in `record_changes`.
  origin VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
  -- The person, invoice, e-mail address and external id that a payload holds, so that the log is searched by record. MySQL keeps
  -- only the indexes: an insert of an event sends nothing more, and an erased person's keys go with the payload. A longer
  -- text is no key.
  client_id BIGINT UNSIGNED
    AS (JSON_VALUE(CONVERT(payload USING utf8mb4), '$.client_id' RETURNING UNSIGNED)) VIRTUAL,
  invoice_id BIGINT UNSIGNED
    AS (JSON_VALUE(CONVERT(payload USING utf8mb4), '$.invoice_id' RETURNING UNSIGNED)) VIRTUAL,
  email VARCHAR(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_ci
    AS (JSON_VALUE(CONVERT(payload USING utf8mb4), '$.email' RETURNING CHAR(254))) VIRTUAL,
  external_id VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin
    AS (JSON_VALUE(CONVERT(payload USING utf8mb4), '$.external_id' RETURNING CHAR(100))) VIRTUAL,
  PRIMARY KEY (company_id, sequence, created_utc),
  KEY event_id (event_id),
  KEY of_client (company_id, client_id, sequence),
  KEY of_invoice (company_id, invoice_id, sequence),
  KEY of_email (company_id, email, sequence),
  KEY of_external_id (company_id, external_id, sequence)
)
-- Retention drops whole days, which blocks no writer.
PARTITION BY RANGE COLUMNS (created_utc) (PARTITION future VALUES LESS THAN (MAXVALUE));

-- The last sequence of each company. Its row lock puts the company's commits in order.
CREATE TABLE event_sequences (
  company_id BIGINT UNSIGNED NOT NULL,
  last_sequence BIGINT UNSIGNED NOT NULL,
  -- Raised in each transaction that changes a subscription of the company. Every event is committed under the lock of
  -- this row and carries the version, so a dispatcher knows whether its copy of the subscriptions is recent enough.
  subscriptions_version BIGINT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id)
);

-- Events whose publication is not confirmed: a row is inserted with its event and deleted when the stream has it.
-- A separate table stays as small as the events in flight; an index on a flag in `events` would hold them all.
CREATE TABLE event_outbox (
  company_id BIGINT UNSIGNED NOT NULL,
  event_id BIGINT UNSIGNED NOT NULL,
  sequence BIGINT UNSIGNED NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  -- The lease on the event's fan-out (services/webhooks/fan-out); the row is deleted with the last of its first
  -- deliveries.
  leased_until DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, event_id)
);

-- The event that a caller's dedupe key was first used for (`events.ingest`).
CREATE TABLE event_dedupe_keys (
  company_id BIGINT UNSIGNED NOT NULL,
  dedupe_key VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
  event_id BIGINT UNSIGNED NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, dedupe_key),
  KEY created_utc (created_utc)
);

-- Calls that were carried out, so that a call or request that comes again gets the first answer and is not carried out
-- twice (services/runtime/idempotency). A row is written in the transaction of its action, by crm and by webhooks: one
-- table, because a client's key is unique over all operations of its company.
CREATE TABLE idempotency_keys (
  company_id BIGINT UNSIGNED NOT NULL,
  -- The name of a call, or a hash of the client's Idempotency-Key.
  idempotency_key BINARY(16) NOT NULL,
  -- A hash of the request that a client's key was used for; null for the name of a call.
  fingerprint BINARY(16),
  -- Of the answer; 0 while the request is carried out, which is never committed.
  status SMALLINT UNSIGNED NOT NULL,
  answer MEDIUMBLOB NOT NULL,
  expires_utc DATETIME(3) NOT NULL,
  -- The name of the call that a client's key was used for first; null for the name of a call. A gateway may send that call
  -- again, and a client's own repetition has another name.
  call_id BINARY(16),
  PRIMARY KEY (company_id, idempotency_key),
  KEY expires (expires_utc)
);

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

-- People who were erased (`erasures.ts`). The record is gone in the transaction that inserts the row; a worker then removes
-- what else tells of the person. After 90 days the row goes, with the tombstones in `record_changes`.
CREATE TABLE erasures (
  company_id BIGINT UNSIGNED NOT NULL,
  client_id BIGINT UNSIGNED NOT NULL,
  erased_utc DATETIME(3) NOT NULL,
  passes TINYINT UNSIGNED NOT NULL DEFAULT 0,
  -- When the next pass is due; null after the last.
  due_utc DATETIME(3),
  -- What the tombstone of a person says whose notes are not all removed yet; null once they are. It comes after those of the notes.
  version INT UNSIGNED,
  origin VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
  PRIMARY KEY (company_id, client_id),
  KEY due (due_utc),
  KEY erased (erased_utc),
  KEY unfinished (version, company_id)
);

-- The last number that a company's changes have. Whoever numbers them locks the row.
CREATE TABLE change_sequences (
  company_id BIGINT UNSIGNED NOT NULL,
  last_sequence BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (company_id)
);

-- One value per company, new with each change of what its lookups answer; company 0's is part of every company's. Unlike a
-- counter, UUID_SHORT never repeats, not even after a restore or a failover that lost the last changes.
CREATE TABLE lookup_versions (
  company_id BIGINT UNSIGNED NOT NULL,
  version VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (company_id)
) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_0900_ai_ci;

-- The next id that no block holds (services/runtime/database/ids.ts). Vitess has sequences of the same form.
CREATE TABLE clients_seq (
  id BIGINT NOT NULL,
  next_id BIGINT,
  cache BIGINT,
  PRIMARY KEY (id)
) COMMENT = 'vitess_sequence';
CREATE TABLE client_notes_seq LIKE clients_seq;
CREATE TABLE employees_seq LIKE clients_seq;
CREATE TABLE events_seq LIKE clients_seq;
INSERT INTO clients_seq (id, next_id, cache) VALUES (0, 1, 1000);
INSERT INTO client_notes_seq (id, next_id, cache) VALUES (0, 1, 1000);
INSERT INTO employees_seq (id, next_id, cache) VALUES (0, 1, 1000);
INSERT INTO events_seq (id, next_id, cache) VALUES (0, 1, 1000);

-- Companies that an operator closed, from `access` to the services. `webhooks` removes the row of one that is open again, `access` that
-- of one whose rows are gone.
CREATE TABLE closed_companies (
  company_id BIGINT UNSIGNED NOT NULL,
  closed_utc DATETIME(3) NOT NULL,
  -- Its subscriptions are to be switched on again.
  opened_utc DATETIME(3) NULL,
  -- When the service found no row of the company in its tables, after the time for which they are kept.
  crm_emptied_utc DATETIME(3) NULL,
  webhooks_emptied_utc DATETIME(3) NULL,
  PRIMARY KEY (company_id)
);
