-- Keys that clients gave to creations, so that one whose answer was lost may be asked for again. Kept for a day.
CREATE TABLE idempotency_keys (
    subject_type INTEGER NOT NULL, -- as in api/identity.h
    subject_id INTEGER NOT NULL,
    operation TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL, -- of the target and the body
    thing TEXT NOT NULL, -- the id of what was made; '': none
    status INTEGER NOT NULL DEFAULT 0, -- 0: carried out, and the answer is not kept
    answer TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (subject_type, subject_id, operation, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_created ON idempotency_keys(created_ms);
