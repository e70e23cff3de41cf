-- Revoked keys whose subscriptions are to be switched off. The row is written in the transaction of the
-- revocation. `webhooks` deletes it some minutes later: a request of the key may still be under way.
CREATE TABLE key_revocations (
  company_id BIGINT UNSIGNED NOT NULL,
  key_id BIGINT UNSIGNED NOT NULL,
  revoked_utc DATETIME(3) NOT NULL,
  PRIMARY KEY (company_id, key_id)
);
