-- Allocations stay when their workload's rows go, so they carry what a total asks for.
CREATE TABLE kept_allocations (
    id INTEGER PRIMARY KEY,
    pod_id INTEGER NOT NULL, -- pods.id and workloads.id, as long as they live; no other row gets these numbers
    workload_id INTEGER NOT NULL,
    workload_name TEXT NOT NULL,
    project_id INTEGER NOT NULL,
    project_name TEXT NOT NULL,
    department_id INTEGER NOT NULL,
    person TEXT NOT NULL, -- who submitted it
    node_name TEXT NOT NULL,
    node_pool_id INTEGER NOT NULL,
    gpu_indices_json TEXT NOT NULL,
    gpu_milli INTEGER NOT NULL,
    cpu_milli INTEGER NOT NULL,
    memory_bytes INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL DEFAULT 0, -- 0: still holds
    end_reason TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO kept_allocations
    SELECT a.id, a.pod_id, a.workload_id, w.name, a.project_id, w.project_name, coalesce(j.department_id, 0), w.created_by,
        a.node_name, a.node_pool_id, a.gpu_indices_json, a.gpu_milli, p.cpu_milli, p.memory_bytes, a.started_ms, a.ended_ms, a.end_reason
    FROM allocations a JOIN pods p ON p.id = a.pod_id JOIN workloads w ON w.id = p.workload_id LEFT JOIN projects j ON j.id = a.project_id;
DROP TABLE allocations;
ALTER TABLE kept_allocations RENAME TO allocations;
CREATE INDEX allocations_time ON allocations(started_ms);
CREATE INDEX allocations_pod ON allocations(pod_id);
CREATE INDEX allocations_ended ON allocations(ended_ms) WHERE ended_ms > 0;

-- What allocations that are gone held, by day (UTC): their totals never change.
CREATE TABLE usage_days (
    day_ms INTEGER NOT NULL, -- its first moment
    project_id INTEGER NOT NULL,
    department_id INTEGER NOT NULL,
    node_pool_id INTEGER NOT NULL,
    person TEXT NOT NULL,
    project_name TEXT NOT NULL, -- the latest
    gpu_milli_ms INTEGER NOT NULL, -- thousandths of a device, times milliseconds
    cpu_milli_ms INTEGER NOT NULL,
    memory_mib_ms INTEGER NOT NULL,
    PRIMARY KEY (day_ms, project_id, department_id, node_pool_id, person)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_used ON sessions(last_used_ms);

-- Samples go with their workload from now on.
DELETE FROM samples WHERE scope = 'workload' AND scope_id NOT IN (SELECT id FROM workloads);
DELETE FROM samples WHERE scope = 'pod' AND scope_id NOT IN (SELECT id FROM pods);

-- Statistics of a file that was small made SQLite read whole tables once they were large. Without them it takes the index
-- that a statement was written for.
DROP TABLE IF EXISTS sqlite_stat1;
DROP TABLE IF EXISTS sqlite_stat4;
