#include "daemon/cluster.h"

#include "backends/simulated/cluster_file.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include "daemon/settings.h"
#include "db/db.h"
#include "db/node_pools.h"
#include "db/nodes.h"

#include <string.h>

static const char QUOTA_CLUSTER[] = "nodes:\n- {name: node, count: 2, gpus: 2, cpuCores: 32, memoryBytes: 256Gi}\n";
static const char PREEMPTION_CLUSTER[] = "nodes:\n- {name: node-0, gpus: 8, cpuCores: 64, memoryBytes: 512Gi}\n";

static const char SQL_ADD_TOPOLOGY[] =
    "INSERT INTO topologies(uuid, cluster_id, name, levels_json, created_by, created_ms, updated_ms, revision) "
    "VALUES (?1, ?2, ?3, ?4, 'prorata', ?5, ?5, ?6) ON CONFLICT DO NOTHING";

struct application {
    const struct cluster_description *cluster;
    struct arena *arena;
    int64_t now_ms;
    int64_t cluster_id;
    bool is_first;
};

static int add_pool(struct db_conn *conn, const struct application *application, const struct cluster_pool *wanted,
                    struct error *err)
{
    struct node_pool pool;
    bool is_default = wanted->label_key == NULL;
    int found = db_find_node_pool_by_name(conn, application->cluster_id, wanted->name, application->arena, &pool, err);
    if (found < 0 && err->code != ERROR_NOT_FOUND)
        return -1;
    if (found == 0 && !(is_default && application->is_first))
        return 0;
    if (found < 0) {
        pool = (struct node_pool){0};
        node_pool_defaults(&pool);
        pool.cluster_id = application->cluster_id;
        pool.name = wanted->name;
        pool.label_key = wanted->label_key;
        pool.label_value = wanted->label_value;
        pool.created_by = pool.updated_by = "prorata";
        pool.created_ms = application->now_ms;
    }
    pool.gpu_placement = wanted->gpu_placement;
    pool.cpu_placement = wanted->cpu_placement;
    pool.min_guaranteed_runtime_ms = wanted->min_runtime_ms;
    pool.updated_ms = application->now_ms;
    return found < 0 ? db_create_node_pool(conn, &pool, err) : db_update_node_pool(conn, &pool, err);
}

static int add_node(struct db_conn *conn, const struct application *application, const struct cluster_node *wanted,
                    struct error *err)
{
    struct node existing;
    if (db_find_node_by_name(conn, application->cluster_id, wanted->name, application->arena, &existing, err) == 0)
        return 0;
    if (err->code != ERROR_NOT_FOUND)
        return -1;
    struct node node = {
        .cluster_id = application->cluster_id,
        .name = wanted->name,
        .status = wanted->is_ready ? NODE_STATUS_READY : NODE_STATUS_NOT_READY,
        .status_reason = "",
        .is_cordoned = wanted->is_cordoned,
        .labels_json = wanted->labels_json,
        .taints_json = wanted->taints_json,
        .gpu_count = wanted->gpu_count,
        .gpu_memory_mib = wanted->gpu_memory_mib,
        .gpu_type = wanted->gpu_type,
        .mig_strategy = wanted->mig_strategy,
        .mig_instances_json = wanted->mig_instances_json,
        .cpu_milli = wanted->cpu_milli,
        .memory_bytes = wanted->memory_bytes,
        .max_pods = wanted->max_pods,
        .created_ms = application->now_ms,
        .updated_ms = application->now_ms,
    };
    return db_upsert_node(conn, &node, err);
}

static int add_topology(struct db_conn *conn, const struct application *application,
                        const struct cluster_topology *wanted, struct error *err)
{
    char uuid[UUID_SIZE];
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_ADD_TOPOLOGY, &stmt, err) < 0)
        return -1;
    uuid_create(uuid);
    db_bind_text(stmt, 1, uuid);
    db_bind_int(stmt, 2, application->cluster_id);
    db_bind_text(stmt, 3, wanted->name);
    db_bind_text(stmt, 4, wanted->levels_json);
    db_bind_int(stmt, 5, application->now_ms);
    db_bind_int(stmt, 6, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    return rc;
}

static int apply(struct db_conn *conn, void *context, struct error *err)
{
    struct application *application = context;
    const struct cluster_description *cluster = application->cluster;
    if (db_read_number(conn, "SELECT min(id) FROM clusters", &application->cluster_id, err) < 0)
        return -1;
    for (size_t i = 0; i < cluster->pool_count; i++)
        if (add_pool(conn, application, &cluster->pools[i], err) < 0)
            return error_prefix(err, "nodePools: %s: ", cluster->pools[i].name);
    for (size_t i = 0; i < cluster->topology_count; i++)
        if (add_topology(conn, application, &cluster->topologies[i], err) < 0)
            return error_prefix(err, "topologies: %s: ", cluster->topologies[i].name);
    for (size_t i = 0; i < cluster->node_count; i++)
        if (add_node(conn, application, &cluster->nodes[i], err) < 0)
            return error_prefix(err, "nodes: %s: ", cluster->nodes[i].name);
    return 0;
}

int cluster_apply(struct db *db, const struct settings *settings, bool is_first, struct arena *arena, struct error *err)
{
    struct cluster_description cluster;
    bool is_preemption = settings->scenario && strcmp(settings->scenario, "preemption") == 0;
    if (!settings->cluster && !is_first)
        return 0;
    int rc = settings->cluster ? cluster_file_read(settings->cluster, arena, &cluster, err)
                               : cluster_text_read(is_preemption ? PREEMPTION_CLUSTER : QUOTA_CLUSTER, "cluster", arena,
                                                   &cluster, err);
    if (rc < 0)
        return -1;
    struct application application = {
        .cluster = &cluster, .arena = arena, .now_ms = timestamp_now_ms(), .is_first = is_first};
    if (db_write(db, apply, &application, err) < 0)
        return settings->cluster ? error_prefix(err, "%s: ", settings->cluster) : -1;
    return 0;
}
