-- Lookups can have a limit of their own for a company and for a key; where one is set, they no longer count as reads.
ALTER TABLE companies ADD COLUMN limit_lookup INT UNSIGNED NULL AFTER limit_admin, ALGORITHM = INSTANT;
ALTER TABLE api_keys ADD COLUMN limit_lookup INT UNSIGNED NULL AFTER limit_admin, ALGORITHM = INSTANT;
