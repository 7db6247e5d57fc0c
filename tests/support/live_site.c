// The organisation and the nodes of a test, changed as others would change them.
#include "base/error.h"
#include "db/node_pools.h"
#include "db/nodes.h"
#include "db/org_units.h"
#include "tests/support/live.h"

#include <string.h>

struct project_job {
    struct live *live;
    const char *name;
    int64_t gpu_quota;
};

static const char SQL_SET_QUOTA[] =
    "UPDATE queues SET gpu_deserved_milli = gpu_deserved_milli + ?3, revision = ?4 WHERE owner_kind = ?1 AND owner_id ="
    " ?2";

static int add_quota(struct db_conn *conn, const char *kind, int64_t owner_id, int64_t gpu_quota, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_SET_QUOTA, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, kind);
    db_bind_int(stmt, 2, owner_id);
    db_bind_int(stmt, 3, gpu_quota * 1000);
    db_bind_int(stmt, 4, db_revision(conn));
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch_number(conn, CHANGE_PROJECT, owner_id);
    return rc;
}

static int add_project(struct db_conn *conn, void *context, struct error *err)
{
    struct project_job *job = context;
    struct org_unit unit = {.kind = ORG_UNIT_PROJECT,
                            .cluster_id = job->live->cluster_id,
                            .department_id = job->live->department_id,
                            .name = job->name,
                            .description = "",
                            .phase = "Ready",
                            .created_by = "test",
                            .updated_by = "test",
                            .created_ms = job->live->now_ms,
                            .updated_ms = job->live->now_ms};
    if (db_create_org_unit(conn, &unit, NULL, &job->live->arena, err) < 0 ||
        add_quota(conn, "project", unit.id, job->gpu_quota, err) < 0)
        return -1;
    return add_quota(conn, "department", job->live->department_id, job->gpu_quota, err);
}

void live_add_project(struct live *live, const char *name, int64_t gpu_quota)
{
    struct error err = {0};
    struct project_job job = {live, name, gpu_quota};
    live_must(db_write(live->db, add_project, &job, &err), "add_project", &err);
}

struct rules_job {
    const char *project, *rules;
};

static int set_rules(struct db_conn *conn, void *context, struct error *err)
{
    const struct rules_job *job = context;
    sqlite3_stmt *stmt;
    if (db_prepare_once(conn, "UPDATE projects SET scheduling_rules_json = ?, revision = ? WHERE name = ?", &stmt,
                        err) < 0)
        return -1;
    db_bind_text(stmt, 1, job->rules);
    db_bind_int(stmt, 2, db_revision(conn));
    db_bind_text(stmt, 3, job->project);
    int rc = db_run(conn, stmt, err);
    db_release(conn, stmt);
    db_touch_number(conn, CHANGE_PROJECT, 1);
    return rc;
}

void live_set_rules(struct live *live, const char *project, const char *rules)
{
    struct error err = {0};
    struct rules_job job = {project, rules};
    live_must(db_write(live->db, set_rules, &job, &err), "set_rules", &err);
    live_run(live);
}

struct named_job {
    struct live *live;
    const char *name;
};

static int delete_project(struct db_conn *conn, void *context, struct error *err)
{
    const struct named_job *job = context;
    sqlite3_stmt *stmt;
    int64_t id = 0;
    bool is_finished;
    if (db_prepare_once(conn, "SELECT id FROM projects WHERE name = ?", &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, job->name);
    if (db_step(conn, stmt, err) == 1)
        id = db_column_int(stmt, 0);
    db_release(conn, stmt);
    return db_delete_project(conn, id, "test", job->live->now_ms, &is_finished, err);
}

void live_delete_project(struct live *live, const char *name)
{
    struct error err = {0};
    struct named_job job = {live, name};
    live_must(db_write(live->db, delete_project, &job, &err), "delete project", &err);
}

static int add_pool(struct db_conn *conn, void *context, struct error *err)
{
    const struct named_job *job = context;
    struct node_pool pool = {0};
    node_pool_defaults(&pool);
    pool.cluster_id = job->live->cluster_id;
    pool.name = job->name;
    pool.label_key = "pool";
    pool.label_value = job->name;
    pool.created_by = pool.updated_by = "test";
    pool.created_ms = pool.updated_ms = job->live->now_ms;
    return db_create_node_pool(conn, &pool, err);
}

void live_add_pool(struct live *live, const char *name)
{
    struct error err = {0};
    struct named_job job = {live, name};
    live_must(db_write(live->db, add_pool, &job, &err), "pool", &err);
}

struct node_job {
    struct live *live;
    const char *name;
    int gpus;
    bool ready;
    bool removes;
};

// The part of the name before a dash is the value of label `pool`.
static const char *labels_of(const char *name, struct arena *arena)
{
    const char *dash = strchr(name, '-');
    return dash ? arena_printf(arena, "{\"pool\":\"%.*s\"}", (int)(dash - name), name) : "{}";
}

static int change_node(struct db_conn *conn, void *context, struct error *err)
{
    struct node_job *job = context;
    struct live *live = job->live;
    if (job->removes)
        return db_remove_node(conn, live->cluster_id, job->name, live->now_ms, err);
    struct node node = {.cluster_id = live->cluster_id,
                        .name = job->name,
                        .status = job->ready ? NODE_STATUS_READY : NODE_STATUS_NOT_READY,
                        .status_reason = "",
                        .labels_json = labels_of(job->name, &live->arena),
                        .taints_json = "[]",
                        .gpu_count = job->gpus,
                        .gpu_memory_mib = 81920,
                        .gpu_type = "NVIDIA-H100",
                        .mig_strategy = "none",
                        .mig_instances_json = "{}",
                        .cpu_milli = 64000,
                        .memory_bytes = INT64_C(512) << 30,
                        .max_pods = 110,
                        .unhealthy_gpus_json = "[]",
                        .ip = "",
                        .version = "",
                        .created_ms = live->now_ms,
                        .updated_ms = live->now_ms};
    return db_upsert_node(conn, &node, err);
}

void live_add_node(struct live *live, const char *name, int gpus, bool ready)
{
    struct error err = {0};
    struct node_job job = {live, name, gpus, ready, false};
    live_must(db_write(live->db, change_node, &job, &err), "node", &err);
}

void live_remove_node(struct live *live, const char *name)
{
    struct error err = {0};
    struct node_job job = {live, name, 0, false, true};
    live_must(db_write(live->db, change_node, &job, &err), "remove node", &err);
}
