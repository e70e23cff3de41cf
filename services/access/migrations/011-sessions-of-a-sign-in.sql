-- One sign-in can open several companies: it makes a session for each, which share `sign_in`. `state`:
-- `open`: the browser has its token; `ready`: the member can switch to it; `code`: likewise, with a code of that
-- membership's second factor. Only an open session's token was ever given to anybody.
ALTER TABLE portal_sessions
  ADD COLUMN sign_in BINARY(16) NULL,
  ADD COLUMN state VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'open',
  ALGORITHM = INSTANT;
ALTER TABLE portal_sessions ADD KEY portal_sessions_sign_in (sign_in), ALGORITHM = INPLACE, LOCK = NONE;
