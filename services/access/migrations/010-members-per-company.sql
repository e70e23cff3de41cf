-- An address is unique within a company and may be a member of several. Each membership has its own password and
-- second factor (sessions/README.md). The old unique key gave each address one row, so no row changes.
ALTER TABLE portal_users
  DROP KEY portal_users_email,
  ADD UNIQUE KEY portal_users_email (company_id, email),
  ADD KEY portal_users_address (email),
  ALGORITHM = INPLACE, LOCK = NONE;
