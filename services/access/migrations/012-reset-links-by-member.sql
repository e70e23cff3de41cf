-- The member who made the link: it ends when they are removed or lose their role. Null: an operator, or a link from before
-- this was kept.
ALTER TABLE portal_password_resets ADD COLUMN made_by BIGINT UNSIGNED NULL, ALGORITHM = INSTANT;
