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
  PRIMARY KEY (company_id, entry)
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
