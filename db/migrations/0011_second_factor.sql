-- Passwords that were: the last few may not come again.
CREATE TABLE old_passwords (
    id INTEGER PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    password_hash TEXT NOT NULL -- crypto_pwhash_str
) STRICT;
CREATE INDEX old_passwords_user ON old_passwords(user_id);

-- A second factor: codes by time (RFC 6238) from a secret that a person's app keeps too.
CREATE TABLE second_factors (
    user_id INTEGER PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
    secret_sealed TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    confirmed_ms INTEGER NOT NULL DEFAULT 0, -- 0: asked for, and no code was shown yet
    last_step INTEGER NOT NULL DEFAULT 0 -- of the code that was used last: none of this step or before is good again
) STRICT;

-- For who has lost the app; each is good once.
CREATE TABLE recovery_codes (
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    code_hash BLOB NOT NULL, -- BLAKE2b-256
    PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;
