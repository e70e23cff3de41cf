-- Whether the company's new subscriptions, and those whose URL changes, need endpoint verification (contract,
-- "Endpoint verification").
ALTER TABLE webhook_companies ADD COLUMN verify_endpoints TINYINT(1) NOT NULL DEFAULT 0, ALGORITHM = INSTANT;
-- Null: the receiver is verified, or need not be. Otherwise the subscription is disabled until the receiver echoes a
-- challenge. `pending`: the echo enables it. `required`: it was disabled by choice, and stays so until somebody enables
-- it. The other two columns are about the last challenge: when its result arrived, and why it failed.
ALTER TABLE subscriptions
  ADD COLUMN verification ENUM ('pending', 'required'),
  ADD COLUMN challenged_utc DATETIME(3),
  ADD COLUMN challenge_failure VARCHAR(500),
  ALGORITHM = INSTANT;
