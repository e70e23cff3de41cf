-- A company or a key can have its own limit for lookups; if it does, lookups no longer count as reads.
ALTER TABLE companies ADD COLUMN limit_lookup INT UNSIGNED NULL AFTER limit_admin, ALGORITHM = INSTANT;
ALTER TABLE api_keys ADD COLUMN limit_lookup INT UNSIGNED NULL AFTER limit_admin, ALGORITHM = INSTANT;
