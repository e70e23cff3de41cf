-- Since when the company is closed in this cell: it is moving to another cell, or has moved (services/gateway/cells).
-- Null: open.
ALTER TABLE companies ADD COLUMN closed_utc DATETIME(3), ALGORITHM = INSTANT;
