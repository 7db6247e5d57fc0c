-- What a workload waits for: others of its project to end. on_name is kept for when the other's row is gone.
CREATE TABLE workload_dependencies (
    workload_id INTEGER NOT NULL REFERENCES workloads(id) ON DELETE CASCADE,
    on_id INTEGER NOT NULL,
    on_name TEXT NOT NULL,
    wanted TEXT NOT NULL CHECK (wanted IN ('ok', 'any', 'failed')),
    state TEXT NOT NULL CHECK (state IN ('waits', 'met', 'never')),
    PRIMARY KEY (workload_id, on_id)
) WITHOUT ROWID;
CREATE INDEX workload_dependencies_on ON workload_dependencies(on_id);
-- Whoever ends a workload, and however, tells those that wait for it. Its row gets its revision in another statement of
-- the same transaction than its phase: whichever comes last gives it to them.
CREATE TRIGGER workload_dependencies_end AFTER UPDATE OF phase, deleted_ms, revision ON workloads
    WHEN NEW.phase IN ('Completed', 'Failed') OR NEW.deleted_ms <> 0 BEGIN
    UPDATE workload_dependencies SET state = CASE WHEN wanted = 'any' OR (wanted = 'ok' AND NEW.phase = 'Completed')
        OR (wanted = 'failed' AND NEW.phase = 'Failed') THEN 'met' ELSE 'never' END
        WHERE on_id = NEW.id AND state = 'waits';
    UPDATE workloads SET revision = NEW.revision WHERE deleted_ms = 0 AND phase NOT IN ('Completed', 'Failed')
        AND id IN (SELECT workload_id FROM workload_dependencies WHERE on_id = NEW.id) AND revision < NEW.revision;
END;
