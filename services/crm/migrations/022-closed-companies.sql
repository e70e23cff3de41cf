-- Companies that an operator closed, from `access` to the services. `webhooks` removes the row of one that is open again, `access` that
-- of one whose rows are gone.
CREATE TABLE closed_companies (
  company_id BIGINT UNSIGNED NOT NULL,
  closed_utc DATETIME(3) NOT NULL,
  -- Its subscriptions are to be switched on again.
  opened_utc DATETIME(3) NULL,
  -- When the service found no row of the company in its tables, after the time for which they are kept.
  crm_emptied_utc DATETIME(3) NULL,
  webhooks_emptied_utc DATETIME(3) NULL,
  PRIMARY KEY (company_id)
);
