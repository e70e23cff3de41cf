-- What the tombstone of a person says whose notes are not all removed yet; null once they are. It comes after those of the notes.
ALTER TABLE erasures
  ADD COLUMN version INT UNSIGNED,
  ADD COLUMN origin VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin,
  ALGORITHM = INSTANT;
