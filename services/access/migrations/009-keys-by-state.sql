-- The portal lists active and revoked keys separately, by pages, and the quota counts the active ones. Neither may
-- get slower as a company revokes keys.
ALTER TABLE api_keys ADD KEY api_keys_by_state (company_id, is_active, id), ALGORITHM = INPLACE, LOCK = NONE;
