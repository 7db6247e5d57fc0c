// Labels of nodes.
#pragma once

struct snapshot_node;

// The value of the label; NULL where the node has none of this key.
const char *node_label(const struct snapshot_node *node, const char *key);
