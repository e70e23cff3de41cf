-- The e-mail address and the external id that a payload holds, in the manner of the person and the invoice: only the
-- indexes are kept, and they change with the payload, so an erased person's keys go with it. A longer text is no key.
ALTER TABLE events
  ADD COLUMN email VARCHAR(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_ci
    AS (JSON_VALUE(CONVERT(payload USING utf8mb4), '$.email' RETURNING CHAR(254))) VIRTUAL,
  ADD COLUMN external_id VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin
    AS (JSON_VALUE(CONVERT(payload USING utf8mb4), '$.external_id' RETURNING CHAR(100))) VIRTUAL,
  ALGORITHM = INPLACE, LOCK = NONE;
ALTER TABLE events
  ADD KEY of_email (company_id, email, sequence),
  ADD KEY of_external_id (company_id, external_id, sequence),
  ALGORITHM = INPLACE, LOCK = NONE;
