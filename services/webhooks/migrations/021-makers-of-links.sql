-- The member who made the link. Null: a process of the release before made it.
ALTER TABLE delivery_shares ADD COLUMN created_by_id BIGINT UNSIGNED NULL, ALGORITHM = INSTANT;
