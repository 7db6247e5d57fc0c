-- What a start must read, found by the index alone: workloads that are not over, and those with a pod that holds a place.
CREATE INDEX workloads_unfinished ON workloads(id) WHERE deleted_ms = 0 AND (phase NOT IN ('Completed', 'Failed', 'Stopped')
    OR (phase = 'Stopped' AND desired_phase <> 'Stopped') OR desired_phase = 'Deleted');
CREATE INDEX pods_placed ON pods(workload_id) WHERE deleted_ms = 0 AND status IN ('Binding', 'Bound', 'Running', 'Releasing');
