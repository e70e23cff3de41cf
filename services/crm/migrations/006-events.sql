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
  PRIMARY KEY (company_id, sequence, created_utc),
  KEY event_id (event_id)
);

-- The last sequence of each company. Its row lock puts the company's commits in order.
CREATE TABLE event_sequences (
  company_id BIGINT UNSIGNED NOT NULL,
  last_sequence BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (company_id)
);

-- Events whose publication is not confirmed: a row is inserted with its event and deleted when the stream has it.
-- A separate table stays as small as the events in flight; an index on a flag in `events` would hold them all.
CREATE TABLE event_outbox (
  company_id BIGINT UNSIGNED NOT NULL,
  event_id BIGINT UNSIGNED NOT NULL,
  sequence BIGINT UNSIGNED NOT NULL,
  created_utc DATETIME(3) NOT NULL,
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
