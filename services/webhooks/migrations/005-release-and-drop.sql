-- Releasing and dropping held deliveries is a replay of its own kind, which continues page by page: `made` counts the
-- deliveries released or dropped so far.
ALTER TABLE replays
  MODIFY kind ENUM ('resend', 'failed', 'missed', 'filter', 'release', 'drop') NOT NULL;
