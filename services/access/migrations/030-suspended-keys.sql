-- The key was active when its company was closed, and is so again when the company is opened.
ALTER TABLE api_keys ADD COLUMN is_suspended TINYINT(1) NOT NULL DEFAULT 0, ALGORITHM = INSTANT;
