-- Members who lost rights: `webhooks` ends what they made and may not make any more, except what is kept. The row is written in
-- the transaction of the removal or of the new role; `webhooks` deletes it a minute later, as a request of the member may
-- still be under way. `done_utc`: what they had made by then has ended.
CREATE TABLE member_endings (
  company_id BIGINT UNSIGNED NOT NULL,
  member_id BIGINT UNSIGNED NOT NULL,
  ended_utc DATETIME(3) NOT NULL,
  due_utc DATETIME(3) NOT NULL,
  done_utc DATETIME(3) NULL,
  -- JSON: what ends, what is kept, and who decided it.
  ending TEXT NOT NULL,
  -- JSON: the subscriptions that were switched off, so that nobody who enables one again is undone.
  switched_off TEXT NULL,
  PRIMARY KEY (company_id, member_id),
  KEY member_endings_due (due_utc)
);
