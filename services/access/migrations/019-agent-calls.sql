-- Calls of agents per hour and tool, as the gateways report them; the portal shows them. A gateway that is killed loses
-- some seconds of its counts.
CREATE TABLE agent_calls (
  company_id BIGINT UNSIGNED NOT NULL,
  hour_utc DATETIME NOT NULL,
  tool VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  answered INT UNSIGNED NOT NULL DEFAULT 0,
  refused INT UNSIGNED NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, hour_utc, tool),
  KEY agent_calls_age (hour_utc)
);
