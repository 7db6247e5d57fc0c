-- How many unfinished workloads a person has: answered from the index alone, at each submission.
CREATE INDEX workloads_of_person ON workloads(created_by, deleted_ms, phase) WHERE deleted_ms = 0;
