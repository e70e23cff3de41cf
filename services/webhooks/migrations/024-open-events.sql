-- The earliest end of a lease among the events of which the dispatcher makes deliveries that have no rows yet. While it
-- beats, the others leave events to it whose leases have ended since (services/dispatcher/README.md).
ALTER TABLE dispatchers ADD COLUMN open_until_utc DATETIME(3), ALGORITHM = INSTANT;
