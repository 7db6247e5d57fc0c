// A turn's outcome as one transaction, and the orders that follow from it.
#pragma once
#include "reconciler/outcome/figures.h"
#include "reconciler/turn/turn.h"

struct commit {
    struct turn *turn;
    const struct figure_changes *figures;
    int64_t expire_before_ms;     // completed workloads whose time is over by then are to be deleted; 0: none
    struct backend_order *orders; // out: for the backend, once the transaction is on disk
    size_t order_count;
};

// A write function (db_write_fn); context is a struct commit.
int commit_write(struct db_conn *conn, void *context, struct error *err);
// What a backend must know of a pod as the cache has it; reads the workload's specification. Texts are the arena's.
int commit_describe_pod(struct db_conn *conn, const struct cache *cache, const struct cache_pod *pod,
                        struct arena *arena, struct backend_pod *out_pod, struct error *err);
