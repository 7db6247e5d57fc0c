-- How many workloads of a project are in each phase, and who waits for what: answered from the index alone. deleted_ms
-- stands in it because SQLite reads the row for a column that only the condition names.
CREATE INDEX workloads_by_state ON workloads(project_id, deleted_ms, phase, phase_reason, phase_updated_ms,
    gpu_requested_milli, node_pools_json) WHERE deleted_ms = 0;
