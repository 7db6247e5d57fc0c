-- What lists of workloads are searched and sorted by, without their wide rows.
CREATE INDEX workloads_narrow ON workloads(deleted_ms, id, name, type, project_name, department_name, created_by, phase, category,
    framework, priority_class, priority, project_id, department_id, cluster_id, created_ms, completed_ms, phase_updated_ms,
    pending_total_ms, running_total_ms);
