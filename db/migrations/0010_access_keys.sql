-- Access keys: a person's keys for programs, who act with the person's rights.
CREATE TABLE access_keys (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    client_id TEXT NOT NULL UNIQUE,
    secret_hash BLOB NOT NULL, -- BLAKE2b-256
    created_ms INTEGER NOT NULL,
    last_login_ms INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user_id, name)
) STRICT;

-- A session made with a key goes with it.
ALTER TABLE sessions ADD COLUMN access_key_id INTEGER REFERENCES access_keys(id) ON DELETE CASCADE;
ALTER TABLE sessions ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
CREATE INDEX sessions_access_key ON sessions(access_key_id) WHERE access_key_id IS NOT NULL;
