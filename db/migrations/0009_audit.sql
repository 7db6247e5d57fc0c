-- Who did what, each record chained to the one before by a MAC whose key is not in this file. Rows are only added; what
-- is too old goes from the front, and audit_base holds where the rest begins.
CREATE TABLE audit_records (
    seq INTEGER PRIMARY KEY, -- one more than the record before, without gaps
    time_ms INTEGER NOT NULL,
    subject_type TEXT NOT NULL, -- User, App
    subject TEXT NOT NULL, -- '': unknown
    address TEXT NOT NULL,
    operation TEXT NOT NULL,
    action TEXT NOT NULL,
    method TEXT NOT NULL,
    url TEXT NOT NULL, -- the path, without its query
    entity_type TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    entity_name TEXT NOT NULL,
    cluster_id INTEGER NOT NULL, -- where it was, as long as that lives; 0: nowhere below
    department_id INTEGER NOT NULL,
    project_id INTEGER NOT NULL,
    status INTEGER NOT NULL, -- of the answer
    count INTEGER NOT NULL, -- how many tries alike
    last_ms INTEGER NOT NULL, -- of the last of them
    request TEXT NOT NULL,
    details_json TEXT NOT NULL, -- an object of texts
    changes_json TEXT NOT NULL, -- a list of {field, before, after}
    key_id TEXT NOT NULL,
    mac BLOB NOT NULL
) STRICT;
CREATE INDEX audit_records_time ON audit_records(time_ms);
CREATE INDEX audit_records_subject ON audit_records(subject, time_ms);
CREATE INDEX audit_records_department ON audit_records(department_id, time_ms);
CREATE INDEX audit_records_project ON audit_records(project_id, time_ms);

-- The last record that went for its age; signed, so that the rest still proves itself.
CREATE TABLE audit_base (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL,
    time_ms INTEGER NOT NULL,
    mac BLOB NOT NULL,
    key_id TEXT NOT NULL,
    signature BLOB NOT NULL
) STRICT;
