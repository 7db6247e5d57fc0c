-- Where an event without a workload belongs: of a project both, of a department the first, of a node or a pool none. The
-- unit itself may be gone.
ALTER TABLE events ADD COLUMN department_id INTEGER;
ALTER TABLE events ADD COLUMN project_id INTEGER;
-- What happened to nodes, among all that happened to workloads (api/scheduling/events.c asks with these very words).
CREATE INDEX events_of_nodes ON events(time_ms, id) WHERE object_kind = 'Node' OR reason IN ('NodeLost', 'Drained');
-- When a person's drain had nothing left to send away; 0: not yet.
ALTER TABLE nodes ADD COLUMN drained_ms INTEGER NOT NULL DEFAULT 0;
