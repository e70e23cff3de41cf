-- Members without a second factor can do nothing but set one up.
ALTER TABLE companies ADD COLUMN require_factor TINYINT(1) NOT NULL DEFAULT 0, ALGORITHM = INSTANT;
