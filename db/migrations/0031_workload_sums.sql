-- The node pools that a list shows of a workload: those it runs in, else those it asked for.
ALTER TABLE workloads ADD COLUMN pools_json TEXT NOT NULL DEFAULT '[]';
ALTER TABLE workloads ADD COLUMN pool TEXT NOT NULL DEFAULT ''; -- the first of them; '': none
UPDATE workloads SET pools_json = coalesce(nullif(current_node_pools_json, '[]'),
    json_extract('{' || listing_json || '}', '$.requestedNodePools'), '[]');
UPDATE workloads SET pool = coalesce(pools_json ->> '$[0]', '');

-- With all that lists are sorted by.
DROP INDEX workloads_narrow;
CREATE INDEX workloads_narrow ON workloads(deleted_ms, id, name, type, project_name, department_name, created_by, phase, category,
    framework, priority_class, priority, project_id, department_id, cluster_id, created_ms, completed_ms, phase_updated_ms,
    pending_total_ms, running_total_ms, started_ms, preemptible, pools_json, pool);

-- What a search for a name reads: all of a workload but for its order would be four times as much.
DROP INDEX workloads_by_name;
CREATE INDEX workloads_by_name ON workloads(deleted_ms, name, id, created_ms);

-- What telemetry tells, added up as rows change: of workloads that are not deleted.
CREATE TABLE workload_sums (
    cluster_id INTEGER NOT NULL,
    department_id INTEGER NOT NULL,
    project_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    category TEXT NOT NULL,
    phase TEXT NOT NULL,
    pool TEXT NOT NULL, -- '': none
    workload_count INTEGER NOT NULL,
    gpu_allocated_milli INTEGER NOT NULL,
    PRIMARY KEY (project_id, department_id, cluster_id, type, category, phase, pool)
) STRICT, WITHOUT ROWID;
INSERT INTO workload_sums SELECT cluster_id, department_id, project_id, type, category, phase, pool,
    count(*), sum(gpu_allocated_milli) FROM workloads WHERE deleted_ms = 0 GROUP BY 1, 2, 3, 4, 5, 6, 7;

-- The words that all workloads share among them: a search looks there first. Words stay.
CREATE TABLE workload_words (
    field TEXT NOT NULL, -- as the API names it
    word TEXT NOT NULL,
    PRIMARY KEY (field, word)
) STRICT, WITHOUT ROWID;
INSERT INTO workload_words SELECT DISTINCT 'type', type FROM workloads;
INSERT INTO workload_words SELECT DISTINCT 'projectName', project_name FROM workloads;
INSERT INTO workload_words SELECT DISTINCT 'departmentName', department_name FROM workloads;
INSERT INTO workload_words SELECT DISTINCT 'phase', phase FROM workloads;
INSERT INTO workload_words SELECT DISTINCT 'category', category FROM workloads;
INSERT INTO workload_words SELECT DISTINCT 'distributedFramework', framework FROM workloads;
INSERT INTO workload_words SELECT DISTINCT 'priorityClassName', priority_class FROM workloads;

CREATE TRIGGER workload_sums_insert AFTER INSERT ON workloads BEGIN
    INSERT INTO workload_sums SELECT NEW.cluster_id, NEW.department_id, NEW.project_id, NEW.type, NEW.category, NEW.phase,
        NEW.pool, 1, NEW.gpu_allocated_milli WHERE NEW.deleted_ms = 0
        ON CONFLICT DO UPDATE SET workload_count = workload_count + 1,
        gpu_allocated_milli = gpu_allocated_milli + excluded.gpu_allocated_milli;
    INSERT OR IGNORE INTO workload_words VALUES ('type', NEW.type), ('projectName', NEW.project_name),
        ('departmentName', NEW.department_name), ('phase', NEW.phase), ('category', NEW.category), ('distributedFramework', NEW.framework),
        ('priorityClassName', NEW.priority_class);
END;
CREATE TRIGGER workload_sums_update AFTER UPDATE OF cluster_id, department_id, project_id, type, category, phase, pool,
    gpu_allocated_milli, deleted_ms ON workloads
    WHEN OLD.phase <> NEW.phase OR OLD.gpu_allocated_milli <> NEW.gpu_allocated_milli OR OLD.pool <> NEW.pool
    OR OLD.deleted_ms <> NEW.deleted_ms OR OLD.category <> NEW.category OR OLD.type <> NEW.type
    OR OLD.project_id <> NEW.project_id OR OLD.department_id <> NEW.department_id OR OLD.cluster_id <> NEW.cluster_id BEGIN
    UPDATE workload_sums SET workload_count = workload_count - 1,
        gpu_allocated_milli = gpu_allocated_milli - OLD.gpu_allocated_milli WHERE OLD.deleted_ms = 0 AND
        cluster_id = OLD.cluster_id AND department_id = OLD.department_id AND project_id = OLD.project_id
        AND type = OLD.type AND category = OLD.category AND phase = OLD.phase
        AND pool = OLD.pool;
    DELETE FROM workload_sums WHERE workload_count = 0
        AND cluster_id = OLD.cluster_id AND department_id = OLD.department_id AND project_id = OLD.project_id
        AND type = OLD.type AND category = OLD.category AND phase = OLD.phase
        AND pool = OLD.pool;
    INSERT INTO workload_sums SELECT NEW.cluster_id, NEW.department_id, NEW.project_id, NEW.type, NEW.category, NEW.phase,
        NEW.pool, 1, NEW.gpu_allocated_milli WHERE NEW.deleted_ms = 0
        ON CONFLICT DO UPDATE SET workload_count = workload_count + 1,
        gpu_allocated_milli = gpu_allocated_milli + excluded.gpu_allocated_milli;
END;
CREATE TRIGGER workload_sums_delete AFTER DELETE ON workloads WHEN OLD.deleted_ms = 0 BEGIN
    UPDATE workload_sums SET workload_count = workload_count - 1,
        gpu_allocated_milli = gpu_allocated_milli - OLD.gpu_allocated_milli WHERE OLD.deleted_ms = 0 AND
        cluster_id = OLD.cluster_id AND department_id = OLD.department_id AND project_id = OLD.project_id
        AND type = OLD.type AND category = OLD.category AND phase = OLD.phase
        AND pool = OLD.pool;
    DELETE FROM workload_sums WHERE workload_count = 0
        AND cluster_id = OLD.cluster_id AND department_id = OLD.department_id AND project_id = OLD.project_id
        AND type = OLD.type AND category = OLD.category AND phase = OLD.phase
        AND pool = OLD.pool;
END;
CREATE TRIGGER workload_words_phase AFTER UPDATE OF phase ON workloads WHEN OLD.phase <> NEW.phase BEGIN
    INSERT OR IGNORE INTO workload_words VALUES ('phase', NEW.phase);
END;
CREATE TRIGGER workload_words_update AFTER UPDATE OF type, project_name, department_name, category, framework, priority_class
    ON workloads BEGIN
    INSERT OR IGNORE INTO workload_words VALUES ('type', NEW.type), ('projectName', NEW.project_name),
        ('departmentName', NEW.department_name), ('category', NEW.category), ('distributedFramework', NEW.framework),
        ('priorityClassName', NEW.priority_class);
END;
