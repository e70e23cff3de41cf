-- What was held is released or dropped page by page too, and so is a replay of its own kind: `made` counts what
-- was released or dropped so far.
ALTER TABLE replays
  MODIFY kind ENUM ('resend', 'failed', 'missed', 'filter', 'release', 'drop') NOT NULL;
