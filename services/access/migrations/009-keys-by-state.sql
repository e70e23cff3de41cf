-- The portal lists keys by pages, those that work apart from those that were revoked, and counts the former for the
-- quota: neither may get slower with the number of keys that a company has revoked.
ALTER TABLE api_keys ADD KEY api_keys_by_state (company_id, is_active, id), ALGORITHM = INPLACE, LOCK = NONE;
