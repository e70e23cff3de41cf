-- Keys of the service's own that must outlive every key of the ring: sealed with it, as signing secrets are, for
-- company 0.
CREATE TABLE sealed_keys (
  name VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  sealed VARBINARY(255) NOT NULL,
  PRIMARY KEY (name)
);
