-- The event log. A row is written in the transaction of its cause and never changed; `events/writeEvents.ts`
-- tells how sequences are given. The time is part of the key, so that the log can be partitioned by it and
-- trimmed by dropping partitions; that (company_id, sequence) is unique is the doing of `event_sequences`.
CREATE TABLE events (
  company_id BIGINT UNSIGNED NOT NULL,
  -- 1, 2, 3, … in each company, in the order of commits.
  sequence BIGINT UNSIGNED NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  -- The envelope's id.
  event_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  type VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The JSON as it is delivered, byte for byte; the JSON type would reorder it.
  payload MEDIUMBLOB NOT NULL,
  PRIMARY KEY (company_id, sequence, created_utc),
  KEY event_id (event_id)
);

-- The last sequence each company has given. Its row lock is what puts the company's commits in order.
CREATE TABLE event_sequences (
  company_id BIGINT UNSIGNED NOT NULL,
  last_sequence BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (company_id)
);

-- Events that are not known to be published yet: a row comes with its event and goes when the stream has it.
-- A table of its own stays as small as what is on its way; an index on a flag in `events` would hold them all.
CREATE TABLE event_outbox (
  company_id BIGINT UNSIGNED NOT NULL,
  event_id BIGINT UNSIGNED NOT NULL,
  sequence BIGINT UNSIGNED NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, event_id)
);

-- Under which event a caller's key was first met (`events.ingest`).
CREATE TABLE event_dedupe_keys (
  company_id BIGINT UNSIGNED NOT NULL,
  dedupe_key VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
  event_id BIGINT UNSIGNED NOT NULL,
  created_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, dedupe_key),
  KEY created_utc (created_utc)
);
