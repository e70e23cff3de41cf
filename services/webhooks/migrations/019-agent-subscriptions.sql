-- The ID of an agent's subscription, which the agent knows (MCP Events); null: not an agent's. It is derived from the API
-- key, URL and event type, so that an agent that subscribes again renews the subscription that it has.
ALTER TABLE subscriptions ADD COLUMN agent_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin, ALGORITHM = INSTANT;
ALTER TABLE subscriptions ADD UNIQUE KEY agent (company_id, agent_id), ALGORITHM = INPLACE, LOCK = NONE;
