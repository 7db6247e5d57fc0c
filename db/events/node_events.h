// What happens to nodes, as events in the words of Kubernetes: written where a node's row is, in the same transaction,
// once a change. Inside db/ alone.
#pragma once
#include "model/node.h"

struct db_conn;
struct error;

// What the row said before. Without one the node is new.
struct node_before {
    bool is_known;
    enum node_status status;
    bool is_cordoned; // by the backend
    int64_t gpu_count;
};

// After a report: the node joined, is ready or not, was cordoned by the cluster, has other GPUs. The nodes that a
// cluster begins with are not told.
int node_events_add_report(struct db_conn *conn, const struct node_before *before, const struct node *node,
                           struct error *err);
// node needs name, uuid, status, status_reason, updated_ms.
int node_events_add_status(struct db_conn *conn, const struct node_before *before, const struct node *node,
                           struct error *err);
int node_events_add_removal(struct db_conn *conn, const struct node *node, struct error *err);
// node is as it was before; `by` of a cordon that goes is who takes it back. Nothing where it says what it said.
int node_events_add_cordon(struct db_conn *conn, const struct node *node, const struct node_cordon *cordon,
                           int64_t now_ms, struct error *err);
int node_events_add_drained(struct db_conn *conn, const struct node *node, int64_t now_ms, struct error *err);
