// Writes about nodes and node pools.
#include "base/error.h"
#include "db/node_pools.h"
#include "db/nodes.h"
#include "tests/support/db_writes.h"

enum {
    NOW_MS = 1700000000,
    LATER_MS = NOW_MS + 60000
};

int db_write_failed_node(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return db_set_node_status(conn, 1, "node-1", NODE_STATUS_NOT_READY, "KubeletStopped", NOW_MS, err);
}

int db_write_drain(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    struct node node;
    struct node_cordon cordon = {.ms = NOW_MS, .reason = "a new fan", .by = "ada@example.com", .drain = NODE_DRAIN_ALL};
    if (db_find_node_by_name(conn, 1, "node-1", &writes->arena, &node, err) < 0 ||
        db_set_node_cordon(conn, &node, &cordon, NOW_MS, err) < 0)
        return -1;
    return db_set_node_drained(conn, 1, "node-1", LATER_MS, err);
}

int db_write_pool(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    struct node_pool pool = {.cluster_id = 1,
                             .name = "h100",
                             .label_key = "gpu",
                             .label_value = "h100",
                             .created_by = "ada@example.com",
                             .updated_by = "ada@example.com"};
    node_pool_defaults(&pool);
    if (db_create_node_pool(conn, &pool, err) < 0)
        return -1;
    pool.gpu_placement = "spread";
    if (db_update_node_pool(conn, &pool, err) < 0)
        return -1;
    return db_delete_node_pool(conn, pool.id, "ada@example.com", LATER_MS, err);
}
