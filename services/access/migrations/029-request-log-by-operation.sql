-- Counts the requests of a company by operation from the index alone, in its order: a third of the time that the rows take.
-- The operation comes before the key, so that lists of one key keep to the primary key.
ALTER TABLE request_log
  ADD KEY request_log_by_operation (company_id, operation, key_id, method, created_utc, status, requests),
  ALGORITHM = INPLACE, LOCK = NONE;
