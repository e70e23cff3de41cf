-- The networks that requests with the key may come from, in CIDR notation with blanks between them. Null: any.
ALTER TABLE api_keys ADD COLUMN networks VARCHAR(2500) CHARACTER SET ascii COLLATE ascii_bin NULL, ALGORITHM = INSTANT;
