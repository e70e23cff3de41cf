-- Of a row that stands for an hour, which begins at `minute_utc`: the requests of its busiest minute. 0: the row is of one minute.
ALTER TABLE request_minutes ADD COLUMN peak INT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM = INSTANT;
