-- Pods that hold a place on a node. Those that are over keep their rows until their workload goes, by tens of thousands.
DROP INDEX pods_node;
CREATE INDEX pods_on_node ON pods(node_id) WHERE deleted_ms = 0 AND status IN ('Binding', 'Bound', 'Running', 'Releasing');
