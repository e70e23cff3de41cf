-- One sign-in can open several companies: it creates a session for each, and these share `sign_in`. States:
-- `open`: the browser has its token; `ready`: the member can switch to it; `code`: the member can switch to it with
-- a code of that membership's second factor. Only tokens of open sessions are ever handed out.
ALTER TABLE portal_sessions
  ADD COLUMN sign_in BINARY(16) NULL,
  ADD COLUMN state VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'open',
  ALGORITHM = INSTANT;
ALTER TABLE portal_sessions ADD KEY portal_sessions_sign_in (sign_in), ALGORITHM = INPLACE, LOCK = NONE;
