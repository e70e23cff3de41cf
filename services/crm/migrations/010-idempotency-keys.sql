-- Calls that were carried out, so that a call or request that comes again gets the first answer and is not carried out
-- twice (services/runtime/idempotency). A row is written in the transaction of its action, by crm and by webhooks: one
-- table, because a client's key is unique over all operations of its company.
CREATE TABLE idempotency_keys (
  company_id BIGINT UNSIGNED NOT NULL,
  -- The name of a call, or a hash of the client's Idempotency-Key.
  idempotency_key BINARY(16) NOT NULL,
  -- A hash of the request that a client's key was used for; null for the name of a call.
  fingerprint BINARY(16),
  -- Of the answer; 0 while the request is carried out, which is never committed.
  status SMALLINT UNSIGNED NOT NULL,
  answer MEDIUMBLOB NOT NULL,
  expires_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, idempotency_key),
  KEY expires (expires_utc)
);
