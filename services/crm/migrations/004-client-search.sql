-- The index behind the client search; `search/indexer.ts` tells how the four tables work together.
-- All of it can be rebuilt from `clients`.

-- Clients whose name or e-mail address the index does not hold yet. Written in the transaction that makes
-- or renames a client, never updated: `mark` keeps a second change apart from one being indexed.
CREATE TABLE client_search_pending (
  company_id BIGINT UNSIGNED NOT NULL,
  client_id BIGINT UNSIGNED NOT NULL,
  mark BIGINT UNSIGNED NOT NULL DEFAULT (FLOOR(RAND() * 9007199254740991)),
  PRIMARY KEY (company_id, client_id, mark)
);

-- The chunk a company is filling: its number, how many entries it has, and their texts in order.
CREATE TABLE client_search_tails (
  company_id BIGINT UNSIGNED NOT NULL,
  chunk INT UNSIGNED NOT NULL DEFAULT 0,
  entries INT UNSIGNED NOT NULL DEFAULT 0,
  texts MEDIUMBLOB NOT NULL,
  PRIMARY KEY (company_id)
);

-- Which client an entry is; entry = chunk * 4096 + place in the chunk.
CREATE TABLE client_search_entries (
  company_id BIGINT UNSIGNED NOT NULL,
  entry INT UNSIGNED NOT NULL,
  client_id BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (company_id, entry)
);

-- Per full chunk and three bytes of text: where in the chunk they occur, as `search/postings.ts` writes it.
-- Written once. The chunk comes before the gram, so that a chunk is written, and lies, in one piece.
CREATE TABLE client_search_postings (
  company_id BIGINT UNSIGNED NOT NULL,
  chunk INT UNSIGNED NOT NULL,
  gram BINARY(3) NOT NULL,
  occurrences MEDIUMBLOB NOT NULL,
  PRIMARY KEY (company_id, chunk, gram)
);
