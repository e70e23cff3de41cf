-- The version of the folding (`search/fold.ts`) that an entry was indexed with. Releases that do not know it write none.
ALTER TABLE client_search_entries
  ADD COLUMN folding TINYINT UNSIGNED NOT NULL DEFAULT 0,
  ALGORITHM = INSTANT;
ALTER TABLE client_search_entries ADD KEY folding (folding, company_id, entry), ALGORITHM = INPLACE, LOCK = NONE;

-- The digits before an extension, without `(0)`, in reverse order; only of numbers that have one of the two.
ALTER TABLE clients
  ADD COLUMN phone_main_reversed VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin GENERATED ALWAYS AS (
    IF(
      phone LIKE '%(0)%' OR phone LIKE '%x%' OR phone LIKE '%#%' OR phone LIKE '%int%',
      NULLIF(REVERSE(REGEXP_REPLACE(REGEXP_REPLACE(REPLACE(phone, '(0)', ''), '(int|[x#]).*', ''), '[^0-9]', '')), ''),
      NULL
    )
  ) VIRTUAL,
  ALGORITHM = INSTANT;
ALTER TABLE clients ADD KEY phone_main_reversed (company_id, phone_main_reversed), ALGORITHM = INPLACE, LOCK = NONE;

-- What is left to remove, whatever passes the release before has made and noted.
ALTER TABLE erasures ADD KEY unfinished (version, company_id), ALGORITHM = INPLACE, LOCK = NONE;
