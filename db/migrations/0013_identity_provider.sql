-- Sign-in by OpenID Connect: the issuer that is set up, whom it knows, their groups, and the sessions that came from it.
-- Columns named *_sealed hold sealed texts (api/access/sealing.h); db/sealed_columns.c names each for the rotation of keys.
CREATE TABLE identity_provider (
    id INTEGER PRIMARY KEY CHECK (id = 1), -- one at most
    name TEXT NOT NULL, -- on the button of the sign-in page
    issuer TEXT NOT NULL,
    client_id TEXT NOT NULL,
    client_secret_sealed TEXT, -- NULL: a public client
    scopes TEXT NOT NULL,
    groups_claim TEXT NOT NULL,
    username_claim TEXT NOT NULL,
    redirect_url TEXT NOT NULL,
    refresh_s INTEGER NOT NULL, -- how often groups are read again
    updated_by TEXT NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;

-- Whom an account is at its issuer. Such an account has no password that anybody knows.
CREATE TABLE external_identities (
    user_id INTEGER PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    UNIQUE (issuer, subject)
) STRICT;

-- As the issuer said at the latest sign-in or refresh; access rules of subject type group name them.
CREATE TABLE user_groups (
    user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (user_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE external_sessions (
    session_uuid TEXT PRIMARY KEY REFERENCES sessions(uuid) ON DELETE CASCADE,
    refresh_sealed TEXT NOT NULL, -- the issuer's refresh token
    confirmed_ms INTEGER NOT NULL, -- when the issuer last confirmed the session
    next_check_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX external_sessions_next ON external_sessions(next_check_ms);

-- Codes for the command line's sign-in: good once, for who knows the verifier.
CREATE TABLE sign_in_codes (
    code_hash BLOB PRIMARY KEY, -- BLAKE2b-256
    session_uuid TEXT NOT NULL REFERENCES sessions(uuid) ON DELETE CASCADE,
    challenge TEXT NOT NULL, -- base64url of SHA-256 of the verifier
    redirect_uri TEXT NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_codes_session ON sign_in_codes(session_uuid);
