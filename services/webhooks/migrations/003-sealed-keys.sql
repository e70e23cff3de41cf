-- Keys of the service that must outlive every key of the key ring. They are encrypted with the ring like signing
-- secrets, for company 0.
CREATE TABLE sealed_keys (
  name VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  sealed VARBINARY(255) NOT NULL,
  PRIMARY KEY (name)
);
