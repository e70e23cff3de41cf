-- Limits of a company until a time, as JSON: `{"untilMs": 1795500000000, "limits": {"write": 2000}}`. They end by themselves.
ALTER TABLE companies ADD COLUMN temporary_limits VARCHAR(200) CHARACTER SET ascii NULL, ALGORITHM = INSTANT;
