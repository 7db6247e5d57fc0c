-- Whose rule a limit is ("project team-a", "department research"; NULL: of a workload submitted before this was noted),
-- and when its coming was announced: once for all of the running time, once for each stretch of idle GPUs.
ALTER TABLE workloads ADD COLUMN time_limit_scope TEXT;
ALTER TABLE workloads ADD COLUMN idle_limit_scope TEXT;
ALTER TABLE workloads ADD COLUMN time_warned_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workloads ADD COLUMN idle_warned_ms INTEGER NOT NULL DEFAULT 0;
-- Since when the pod's GPUs do nothing; 0: they work, or no rule asks.
ALTER TABLE pods ADD COLUMN idle_since_ms INTEGER NOT NULL DEFAULT 0;
-- A gang's own shape: {"minSubGroups", "topology", "subGroups"} (model/sub_groups.h); NULL: none.
ALTER TABLE workloads ADD COLUMN sub_groups_json TEXT;
