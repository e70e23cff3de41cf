-- Finds the entries older than AUDIT_DAYS, and skips those that stay without reading their rows. Takes some seconds for a million rows.
ALTER TABLE audit_log ADD KEY audit_log_age (created_utc, action), ALGORITHM = INPLACE, LOCK = NONE;
