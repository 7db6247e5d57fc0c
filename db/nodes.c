#include "db/nodes.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/events/node_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABELS_MAX = 200
};

// "IS NOT" lets a report that says nothing new change nothing.
static const char SQL_INSERT[] =
    "INSERT INTO nodes (uuid, cluster_id, name, node_pool_id, status, status_reason, cordoned, labels_json, "
    "taints_json, "
    "gpu_count, gpu_memory_mib, gpu_type, mig_strategy, mig_instances_json, cpu_milli, memory_bytes, max_pods, "
    "unhealthy_gpus_json, ip, version, updated_ms, created_ms, revision, others_cpu_milli, others_memory_bytes, "
    "others_pods, gpus_withheld) "
    "SELECT ?22, ?1, ?2, id, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, "
    "?23, ?24, ?25, ?26 "
    "FROM node_pools WHERE cluster_id = ?1 AND is_default = 1 AND deleted_ms = 0";
static const char SQL_UPDATE[] =
    "UPDATE nodes SET status = ?3, status_reason = ?4, cordoned = ?5, labels_json = ?6, taints_json = ?7, "
    "gpu_count = ?8, gpu_memory_mib = ?9, gpu_type = ?10, mig_strategy = ?11, mig_instances_json = ?12, "
    "cpu_milli = ?13, memory_bytes = ?14, max_pods = ?15, unhealthy_gpus_json = ?16, ip = ?17, version = ?18, "
    "updated_ms = ?19, revision = ?21, others_cpu_milli = ?23, others_memory_bytes = ?24, others_pods = ?25, "
    "gpus_withheld = ?26 "
    "WHERE cluster_id = ?1 AND name = ?2 AND deleted_ms = 0 AND (status IS NOT ?3 OR status_reason IS NOT ?4 OR "
    "cordoned IS NOT ?5 OR labels_json IS NOT ?6 OR taints_json IS NOT ?7 OR gpu_count IS NOT ?8 OR "
    "gpu_memory_mib IS NOT ?9 OR gpu_type IS NOT ?10 OR mig_strategy IS NOT ?11 OR mig_instances_json IS NOT ?12 OR "
    "cpu_milli IS NOT ?13 OR memory_bytes IS NOT ?14 OR max_pods IS NOT ?15 OR unhealthy_gpus_json IS NOT ?16 OR "
    "ip IS NOT ?17 OR version IS NOT ?18 OR others_cpu_milli IS NOT ?23 OR others_memory_bytes IS NOT ?24 OR "
    "others_pods IS NOT ?25 OR gpus_withheld IS NOT ?26)";
static const char SQL_IDENTITY[] = "SELECT id, uuid, node_pool_id, created_ms, status, cordoned, gpu_count FROM nodes "
                                   "WHERE cluster_id = ? AND name = ? AND deleted_ms = 0";
static const char SQL_SET_STATUS[] =
    "UPDATE nodes SET status = ?3, status_reason = ?4, updated_ms = ?5, revision = ?6 "
    "WHERE cluster_id = ?1 AND name = ?2 AND deleted_ms = 0 AND (status IS NOT ?3 OR status_reason IS NOT ?4)";
static const char SQL_SET_DEVICES[] =
    "UPDATE nodes SET unhealthy_gpus_json = ?3, status_reason = ?4, updated_ms = ?5, revision = ?6 "
    "WHERE cluster_id = ?1 AND name = ?2 AND deleted_ms = 0 AND (unhealthy_gpus_json IS NOT ?3 OR status_reason IS NOT "
    "?4)";
static const char SQL_SET_LABELS[] = "UPDATE nodes SET labels_json = ?3, updated_ms = ?5, revision = ?6 "
                                     "WHERE cluster_id = ?1 AND name = ?2 AND deleted_ms = 0 AND labels_json IS NOT ?3";
static const char SQL_REMOVE[] = "UPDATE nodes SET deleted_ms = ?5, updated_ms = ?5, revision = ?6 "
                                 "WHERE cluster_id = ?1 AND name = ?2 AND deleted_ms = 0";
static const char SQL_SET_CORDON[] = "UPDATE nodes SET cordon_ms = ?2, cordon_reason = ?3, cordon_by = ?4, updated_ms "
                                     "= ?5, revision = ?6, cordon_drain = ?7, drained_ms = 0 "
                                     "WHERE uuid = ?1 AND deleted_ms = 0";
static const char SQL_SET_DRAINED[] = "UPDATE nodes SET drained_ms = ?2, revision = ?3 "
                                      "WHERE uuid = ?1 AND deleted_ms = 0 AND cordon_drain <> 0 AND drained_ms = 0";
// Where the labels of several pools match, the oldest pool has the node.
#define ASSIGN(CONDITION)                                                                                          \
    "UPDATE nodes SET node_pool_id = pool.id, updated_ms = ?2, revision = ?3 "                                     \
    "FROM (SELECT n.id AS node_id, coalesce("                                                                      \
    "   (SELECT p.id FROM node_pools p, json_each(n.labels_json) l WHERE p.cluster_id = ?1 AND p.deleted_ms = 0 "  \
    "    AND p.label_key = l.key AND p.label_value = l.value ORDER BY p.id LIMIT 1), "                             \
    "   (SELECT p.id FROM node_pools p WHERE p.cluster_id = ?1 AND p.deleted_ms = 0 AND p.is_default = 1)) AS id " \
    "   FROM nodes n WHERE " CONDITION " AND n.deleted_ms = 0) AS pool "                                           \
    "WHERE nodes.id = pool.node_id AND nodes.node_pool_id <> pool.id RETURNING uuid"
static const char SQL_ASSIGN_ALL[] = ASSIGN("n.cluster_id = ?1");
static const char SQL_ASSIGN_ONE[] = ASSIGN("n.id = ?4");
static const char SQL_RENEW_PHASES[] =
    "UPDATE node_pools SET phase = now.phase, updated_ms = ?2, revision = ?3 "
    "FROM (SELECT p.id, CASE "
    "   WHEN NOT EXISTS (SELECT 1 FROM nodes n WHERE n.node_pool_id = p.id AND n.deleted_ms = 0) THEN 'Empty' "
    "   WHEN EXISTS (SELECT 1 FROM nodes n WHERE n.node_pool_id = p.id AND n.deleted_ms = 0 AND n.status = 'Ready') "
    "   THEN 'Ready' ELSE 'Unschedulable' END AS phase "
    "   FROM node_pools p WHERE p.cluster_id = ?1 AND p.deleted_ms = 0) AS now "
    "WHERE node_pools.id = now.id AND node_pools.phase <> now.phase RETURNING node_pools.id";
static const char SQL_MOVE_PODS[] =
    "UPDATE pods SET node_pool_id = n.node_pool_id, revision = ?2 FROM nodes n "
    "WHERE n.id = pods.node_id AND n.cluster_id = ?1 AND pods.deleted_ms = 0 "
    "AND pods.status IN ('Binding', 'Bound', 'Running', 'Releasing') AND pods.node_pool_id <> n.node_pool_id "
    "RETURNING pods.uuid";

static const char *text_or(const char *text, const char *fallback)
{
    return text ? text : fallback;
}

static void bind_report(sqlite3_stmt *stmt, const struct node *node)
{
    db_bind_int(stmt, 1, node->cluster_id);
    db_bind_text(stmt, 2, node->name);
    db_bind_text(stmt, 3, node_status_text(node->status));
    db_bind_text(stmt, 4, text_or(node->status_reason, ""));
    db_bind_int(stmt, 5, node->is_cordoned);
    db_bind_text(stmt, 6, text_or(node->labels_json, "{}"));
    db_bind_text(stmt, 7, text_or(node->taints_json, "[]"));
    db_bind_int(stmt, 8, node->gpu_count);
    db_bind_int(stmt, 9, node->gpu_memory_mib);
    db_bind_text(stmt, 10, text_or(node->gpu_type, ""));
    db_bind_text(stmt, 11, text_or(node->mig_strategy, "none"));
    db_bind_text(stmt, 12, text_or(node->mig_instances_json, "{}"));
    db_bind_int(stmt, 13, node->cpu_milli);
    db_bind_int(stmt, 14, node->memory_bytes);
    db_bind_int(stmt, 15, node->max_pods ? node->max_pods : 110);
    db_bind_text(stmt, 16, text_or(node->unhealthy_gpus_json, "[]"));
    db_bind_text(stmt, 17, text_or(node->ip, ""));
    db_bind_text(stmt, 18, text_or(node->version, ""));
    db_bind_int(stmt, 19, node->updated_ms);
    db_bind_int(stmt, 23, node->others_cpu_milli);
    db_bind_int(stmt, 24, node->others_memory_bytes);
    db_bind_int(stmt, 25, node->others_pods);
    db_bind_int(stmt, 26, node->gpus_withheld);
}

// 1: found, and node's identity is set; 0: there is none; -1: error. out_before may be NULL.
static int read_identity(struct db_conn *conn, struct node *node, struct node_before *out_before, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_IDENTITY, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, node->cluster_id);
    db_bind_text(stmt, 2, node->name);
    int rc = db_step(conn, stmt, err);
    if (rc == 1) {
        struct arena arena;
        arena_init(&arena);
        node->id = db_column_int(stmt, 0);
        snprintf(node->uuid, sizeof(node->uuid), "%s", db_column_text(stmt, 1, &arena));
        node->node_pool_id = db_column_int(stmt, 2);
        node->created_ms = db_column_int(stmt, 3);
        if (out_before)
            *out_before = (struct node_before){.is_known = true,
                                               .status = node_status_parse(db_column_text(stmt, 4, &arena)),
                                               .is_cordoned = db_column_int(stmt, 5) != 0,
                                               .gpu_count = db_column_int(stmt, 6)};
        arena_done(&arena);
    }
    db_release(conn, stmt);
    return rc;
}

static int write_report(struct db_conn *conn, struct node *node, const struct node_before *before, struct error *err)
{
    bool is_new = !before->is_known;
    int rc = -1;
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, is_new ? SQL_INSERT : SQL_UPDATE, &stmt, err) < 0)
        goto done;
    bind_report(stmt, node);
    db_bind_int(stmt, 21, db_revision(conn));
    if (is_new) {
        uuid_create(node->uuid);
        db_bind_int(stmt, 20, node->updated_ms);
        db_bind_text(stmt, 22, node->uuid);
    }
    if (db_run(conn, stmt, err) < 0)
        goto done;
    rc = 0;
    if (db_changed_rows(conn) > 0) {
        db_touch(conn, CHANGE_NODE, node->uuid);
        rc = node_events_add_report(conn, before, node, err);
    }
done:
    db_release(conn, stmt);
    return rc;
}

// Runs an UPDATE ... RETURNING id and touches what it returns; how many that were, or -1.
static int touch_returned(struct db_conn *conn, sqlite3_stmt *stmt, enum change_kind kind, struct error *err)
{
    struct arena arena;
    arena_init(&arena);
    int rc, count = 0;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        count++;
        if (kind == CHANGE_NODE_POOL)
            db_touch_number(conn, kind, db_column_int(stmt, 0));
        else
            db_touch(conn, kind, db_column_text(stmt, 0, &arena));
    }
    arena_done(&arena);
    return rc < 0 ? -1 : count;
}

// node_id is for SQL_ASSIGN_ONE. How many rows changed, or -1.
static int run_assignment(struct db_conn *conn, const char *sql, enum change_kind kind, int64_t cluster_id,
                          int64_t node_id, int64_t now_ms, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, cluster_id);
    if (kind == CHANGE_POD) {
        db_bind_int(stmt, 2, db_revision(conn));
    } else {
        db_bind_int(stmt, 2, now_ms);
        db_bind_int(stmt, 3, db_revision(conn));
        if (node_id)
            db_bind_int(stmt, 4, node_id);
    }
    int rc = touch_returned(conn, stmt, kind, err);
    db_release(conn, stmt);
    return rc;
}

static int assign(struct db_conn *conn, int64_t cluster_id, int64_t node_id, int64_t now_ms, struct error *err)
{
    const char *sql = node_id ? SQL_ASSIGN_ONE : SQL_ASSIGN_ALL;
    int moved_count = run_assignment(conn, sql, CHANGE_NODE, cluster_id, node_id, now_ms, err);
    if (moved_count < 0 ||
        (moved_count > 0 && run_assignment(conn, SQL_MOVE_PODS, CHANGE_POD, cluster_id, 0, now_ms, err) < 0))
        return -1;
    return run_assignment(conn, SQL_RENEW_PHASES, CHANGE_NODE_POOL, cluster_id, 0, now_ms, err) < 0 ? -1 : 0;
}

int db_upsert_node(struct db_conn *conn, struct node *node, struct error *err)
{
    struct node_before before = {0};
    int found = read_identity(conn, node, &before, err);
    if (found < 0 || write_report(conn, node, &before, err) < 0)
        return -1;
    if (!found && read_identity(conn, node, NULL, err) < 0)
        return -1;
    if (assign(conn, node->cluster_id, node->id, node->updated_ms, err) < 0)
        return -1;
    return read_identity(conn, node, NULL, err) < 0 ? -1 : 0;
}

struct node_change {
    int64_t cluster_id;
    const char *name;
    const char *status; // ?3: or the devices, or the labels
    const char *reason; // ?4
    int64_t now_ms;
};

static int tell_change(struct db_conn *conn, const char *sql, const struct node_change *change,
                       const struct node_before *before, struct node *node, struct error *err)
{
    node->updated_ms = change->now_ms;
    if (sql == SQL_REMOVE)
        return node_events_add_removal(conn, node, err);
    if (sql != SQL_SET_STATUS)
        return 0; // of devices the backend tells itself, with their causes
    node->status = node_status_parse(change->status);
    node->status_reason = change->reason;
    return node_events_add_status(conn, before, node, err);
}

// One of the statements above on one node, with the parameters that it uses.
static int change_node(struct db_conn *conn, const char *sql, const struct node_change *change, struct error *err)
{
    int rc = -1;
    sqlite3_stmt *stmt = NULL;
    struct node node = {.cluster_id = change->cluster_id, .name = change->name};
    struct node_before before;
    int found = read_identity(conn, &node, &before, err);
    if (found < 0)
        return -1;
    if (!found)
        return error_set(err, ERROR_NOT_FOUND, "node %s: not found", change->name);
    if (db_prepare(conn, sql, &stmt, err) < 0)
        goto done;
    db_bind_int(stmt, 1, change->cluster_id);
    db_bind_text(stmt, 2, change->name);
    db_bind_text(stmt, 3, change->status);
    db_bind_text(stmt, 4, change->reason);
    db_bind_int(stmt, 5, change->now_ms);
    db_bind_int(stmt, 6, db_revision(conn));
    if (db_run(conn, stmt, err) < 0)
        goto done;
    if (db_changed_rows(conn) > 0) {
        db_touch(conn, CHANGE_NODE, node.uuid);
        if (tell_change(conn, sql, change, &before, &node, err) < 0)
            goto done;
    }
    rc = assign(conn, change->cluster_id, node.id, change->now_ms, err);
done:
    db_release(conn, stmt);
    return rc;
}

int db_set_node_status(struct db_conn *conn, int64_t cluster_id, const char *name, enum node_status status,
                       const char *reason, int64_t now_ms, struct error *err)
{
    struct node_change change = {.cluster_id = cluster_id,
                                 .name = name,
                                 .status = node_status_text(status),
                                 .reason = text_or(reason, ""),
                                 .now_ms = now_ms};
    return change_node(conn, SQL_SET_STATUS, &change, err);
}

int db_set_node_devices(struct db_conn *conn, int64_t cluster_id, const char *name, const char *unhealthy_gpus_json,
                        const char *reason, int64_t now_ms, struct error *err)
{
    struct node_change change = {.cluster_id = cluster_id,
                                 .name = name,
                                 .status = unhealthy_gpus_json,
                                 .reason = text_or(reason, ""),
                                 .now_ms = now_ms};
    return change_node(conn, SQL_SET_DEVICES, &change, err);
}

// The node's labels with those of the patch, as text that the caller frees; NULL where they are too many.
static char *patched_labels(const char *labels_json, const json_t *patch)
{
    json_t *labels = json_loads(labels_json, 0, NULL), *value;
    const char *key;
    if (!labels)
        labels = json_object();
    json_object_foreach((json_t *)patch, key, value) {
        if (json_is_null(value))
            json_object_del(labels, key);
        else
            json_object_set(labels, key, value);
    }
    char *text = json_object_size(labels) > LABELS_MAX ? NULL : json_dumps(labels, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(labels);
    return text;
}

int db_patch_node_labels(struct db_conn *conn, int64_t cluster_id, const char *name, const json_t *patch,
                         int64_t now_ms, struct error *err)
{
    struct arena arena;
    struct node node;
    char *text = NULL;
    arena_init(&arena);
    int rc = db_find_node_by_name(conn, cluster_id, name, &arena, &node, err);
    if (rc == 0) {
        text = patched_labels(node.labels_json, patch);
        struct node_change change = {
            .cluster_id = cluster_id, .name = name, .status = text, .reason = "", .now_ms = now_ms};
        rc = text ? change_node(conn, SQL_SET_LABELS, &change, err)
                  : error_set(err, ERROR_INVALID, "labels: at most %d on a node", LABELS_MAX);
    }
    free(text);
    arena_done(&arena);
    return rc;
}

int db_remove_node(struct db_conn *conn, int64_t cluster_id, const char *name, int64_t now_ms, struct error *err)
{
    struct node_change change = {.cluster_id = cluster_id, .name = name, .now_ms = now_ms};
    return change_node(conn, SQL_REMOVE, &change, err);
}

int db_set_node_cordon(struct db_conn *conn, const struct node *node, const struct node_cordon *cordon, int64_t now_ms,
                       struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_SET_CORDON, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, node->uuid);
    db_bind_int(stmt, 2, cordon->ms);
    db_bind_text(stmt, 3, cordon->ms ? cordon->reason : "");
    db_bind_text(stmt, 4, cordon->ms ? cordon->by : "");
    db_bind_int(stmt, 5, now_ms);
    db_bind_int(stmt, 6, db_revision(conn));
    db_bind_int(stmt, 7, cordon->drain);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    if (rc < 0)
        return -1;
    if (db_changed_rows(conn) == 0)
        return error_set(err, ERROR_NOT_FOUND, "node %s: not found", node->uuid);
    db_touch(conn, CHANGE_NODE, node->uuid);
    return node_events_add_cordon(conn, node, cordon, now_ms, err);
}

int db_set_node_drained(struct db_conn *conn, int64_t cluster_id, const char *name, int64_t now_ms, struct error *err)
{
    struct arena arena;
    struct node node = {.name = name};
    struct error absent = {0};
    sqlite3_stmt *stmt = NULL;
    arena_init(&arena);
    int rc = db_find_node_by_name(conn, cluster_id, name, &arena, &node, &absent);
    if (rc < 0 && absent.code != ERROR_NOT_FOUND)
        *err = absent;
    else if (rc < 0)
        rc = 0;
    else
        rc = db_prepare(conn, SQL_SET_DRAINED, &stmt, err);
    if (stmt) {
        db_bind_text(stmt, 1, node.uuid);
        db_bind_int(stmt, 2, now_ms);
        db_bind_int(stmt, 3, db_revision(conn));
        rc = db_run(conn, stmt, err);
        db_release(conn, stmt);
    }
    if (rc == 0 && stmt && db_changed_rows(conn) > 0) {
        db_touch(conn, CHANGE_NODE, node.uuid);
        rc = node_events_add_drained(conn, &node, now_ms, err);
    }
    arena_done(&arena);
    return rc;
}

int db_assign_nodes_to_pools(struct db_conn *conn, int64_t cluster_id, int64_t now_ms, struct error *err)
{
    return assign(conn, cluster_id, 0, now_ms, err);
}

void node_from_row(sqlite3_stmt *stmt, struct arena *arena, struct node *out_node)
{
    *out_node = (struct node){
        .id = db_column_int(stmt, 0),
        .cluster_id = db_column_int(stmt, 2),
        .name = db_column_text(stmt, 3, arena),
        .node_pool_id = db_column_int(stmt, 4),
        .node_pool_name = db_column_text(stmt, 5, arena),
        .status = node_status_parse(db_column_text(stmt, 6, arena)),
        .status_reason = db_column_text(stmt, 7, arena),
        .is_cordoned = db_column_int(stmt, 8) != 0,
        .labels_json = db_column_text(stmt, 9, arena),
        .taints_json = db_column_text(stmt, 10, arena),
        .gpu_count = db_column_int(stmt, 11),
        .gpu_memory_mib = db_column_int(stmt, 12),
        .gpu_type = db_column_text(stmt, 13, arena),
        .mig_strategy = db_column_text(stmt, 14, arena),
        .mig_instances_json = db_column_text(stmt, 15, arena),
        .cpu_milli = db_column_int(stmt, 16),
        .memory_bytes = db_column_int(stmt, 17),
        .max_pods = db_column_int(stmt, 18),
        .unhealthy_gpus_json = db_column_text(stmt, 19, arena),
        .ip = db_column_text(stmt, 20, arena),
        .version = db_column_text(stmt, 21, arena),
        .created_ms = db_column_int(stmt, 22),
        .updated_ms = db_column_int(stmt, 23),
        .revision = db_column_int(stmt, 24),
        .others_cpu_milli = db_column_int(stmt, 25),
        .others_memory_bytes = db_column_int(stmt, 26),
        .others_pods = db_column_int(stmt, 27),
        .gpus_withheld = db_column_int(stmt, 28),
        .cordon = {.ms = db_column_int(stmt, 29),
                   .reason = db_column_text(stmt, 30, arena),
                   .by = db_column_text(stmt, 31, arena),
                   .drain = (enum node_drain)db_column_int(stmt, 32)},
    };
    strncpy(out_node->uuid, db_column_text(stmt, 1, arena), sizeof(out_node->uuid) - 1);
}

#define SELECT_NODE "SELECT " NODE_COLUMNS " FROM nodes n JOIN node_pools np ON np.id = n.node_pool_id "
static const char SQL_FIND[] = SELECT_NODE "WHERE n.uuid = ? AND n.deleted_ms = 0";
static const char SQL_FIND_BY_NAME[] = SELECT_NODE "WHERE n.cluster_id = ? AND n.name = ? AND n.deleted_ms = 0";
static const char SQL_LIST[] = SELECT_NODE "WHERE n.cluster_id = ? AND n.deleted_ms = 0 ORDER BY n.name";

static int fetch_node(struct db_conn *conn, sqlite3_stmt *stmt, const char *what, struct arena *arena,
                      struct node *out_node, struct error *err)
{
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        node_from_row(stmt, arena, out_node);
    else if (rc == 0)
        error_set(err, ERROR_NOT_FOUND, "node %.80s: not found", what);
    db_release(conn, stmt);
    return rc == 1 ? 0 : -1;
}

int db_find_node(struct db_conn *conn, const char *uuid, struct arena *arena, struct node *out_node, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, uuid);
    return fetch_node(conn, stmt, uuid, arena, out_node, err);
}

int db_find_node_by_name(struct db_conn *conn, int64_t cluster_id, const char *name, struct arena *arena,
                         struct node *out_node, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_FIND_BY_NAME, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, cluster_id);
    db_bind_text(stmt, 2, name);
    return fetch_node(conn, stmt, name, arena, out_node, err);
}

int db_list_nodes(struct db_conn *conn, int64_t cluster_id, struct arena *arena, struct node **out_nodes,
                  size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (db_prepare(conn, SQL_LIST, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, cluster_id);
    struct node *nodes = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        nodes = arena_grow(arena, nodes, &capacity, count + 1, sizeof(*nodes));
        node_from_row(stmt, arena, &nodes[count++]);
    }
    db_release(conn, stmt);
    *out_nodes = nodes;
    *out_count = count;
    return rc;
}
