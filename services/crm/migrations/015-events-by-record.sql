-- The person and the invoice of an event, out of its payload, so that the log is searched by record. MySQL keeps only
-- the indexes: an insert of an event sends nothing more, and erasing a payload or dropping a partition needs no second
-- statement. An email is no key: it leads to a person, whose record has it.
ALTER TABLE events
  ADD COLUMN client_id BIGINT UNSIGNED
    AS (JSON_VALUE(CONVERT(payload USING utf8mb4), '$.client_id' RETURNING UNSIGNED)) VIRTUAL,
  ADD COLUMN invoice_id BIGINT UNSIGNED
    AS (JSON_VALUE(CONVERT(payload USING utf8mb4), '$.invoice_id' RETURNING UNSIGNED)) VIRTUAL,
  ALGORITHM = INPLACE, LOCK = NONE;
ALTER TABLE events
  ADD KEY of_client (company_id, client_id, sequence),
  ADD KEY of_invoice (company_id, invoice_id, sequence),
  ALGORITHM = INPLACE, LOCK = NONE;
