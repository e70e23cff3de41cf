-- People who were erased (`erasures.ts`). The record is gone in the transaction that inserts the row; a worker then removes
-- what else tells of the person. After 90 days the row goes, with the tombstones in `record_changes`.
CREATE TABLE erasures (
  company_id BIGINT UNSIGNED NOT NULL,
  client_id BIGINT UNSIGNED NOT NULL,
  erased_utc DATETIME(3) NOT NULL,
  passes TINYINT UNSIGNED NOT NULL DEFAULT 0,
  -- When the next pass is due; null after the last.
  due_utc DATETIME(3),
  PRIMARY KEY (company_id, client_id),
  KEY due (due_utc),
  KEY erased (erased_utc)
);
