-- Retention drops whole days (services/webhooks/retention), which blocks no writer.
ALTER TABLE events PARTITION BY RANGE COLUMNS (created_utc) (PARTITION future VALUES LESS THAN (MAXVALUE));
