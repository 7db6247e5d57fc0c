#include "db/reconcile_read.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"
#include "db/db.h"
#include "db/org_units.h"
#include "db/settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char SQL_CLUSTER[] = "SELECT id, uuid FROM clusters ORDER BY id LIMIT 1";
static const char SQL_POOLS[] =
    "SELECT p.id, p.name, p.is_default, p.gpu_placement, p.cpu_placement, p.min_guaranteed_runtime_ms,"
    " p.time_based_fairshare_json, t.name, coalesce(p.settings_json ->> '$.reservation', 0),"
    " coalesce(p.settings_json ->> '$.reclaimByRank', 1)"
    " FROM node_pools p LEFT JOIN topologies t ON t.uuid = p.network_topology_id WHERE p.cluster_id = ?1 AND "
    "p.deleted_ms = 0 ORDER BY p.name";
static const char SQL_NODES[] =
    "SELECT n.id, n.name, n.node_pool_id, n.status, n.cordoned OR n.cordon_ms <> 0, n.status_reason, n.labels_json, "
    "n.taints_json,"
    " n.gpu_count, n.gpu_memory_mib, n.gpu_type, n.mig_strategy, n.mig_instances_json, n.cpu_milli, n.memory_bytes,"
    " n.max_pods, n.unhealthy_gpus_json, n.others_cpu_milli, n.others_memory_bytes, n.others_pods, n.gpus_withheld,"
    " n.cordoned, n.cordon_drain, n.drained_ms <> 0 FROM nodes n JOIN node_pools p ON p.id = n.node_pool_id AND "
    "p.deleted_ms = 0"
    " WHERE n.cluster_id = ?1 AND n.deleted_ms = 0 ORDER BY n.name";
static const char SQL_TOPOLOGIES[] = "SELECT name, levels_json FROM topologies WHERE cluster_id = ?1 ORDER BY name";
#define MIN_RUNTIMES(table)                                                     \
    " " table ".scheduling_rules_json ->> '$.preemptMinRuntimeSeconds', " table \
    ".scheduling_rules_json ->> '$.reclaimMinRuntimeSeconds'"
#define NEAREST_RULE(key) "coalesce(p.scheduling_rules_json ->> '$." key "', d.scheduling_rules_json ->> '$." key "')"
static const char SQL_DEPARTMENTS[] = "SELECT d.id, d.name, d.created_ms," MIN_RUNTIMES(
    "d") " FROM departments d WHERE d.cluster_id = ?1 ORDER BY d.name";
// clang-format off
static const char SQL_PROJECTS[] =
    "SELECT p.id, p.department_id, p.name, " PROJECT_NODE_POOLS ", p.phase, p.created_ms," MIN_RUNTIMES("p") ", "
    NEAREST_RULE("maxGpusPerPerson") ", "
    NEAREST_RULE("maxWaitingGpusPerPerson") ", "
    NEAREST_RULE("maxWorkloadsPerPerson") ", "
    NEAREST_RULE("fairAmongPeople") ", "
    NEAREST_RULE("fairHalfLifeSeconds") ", "
    NEAREST_RULE("gpuHourBudget") ", "
    NEAREST_RULE("gpuHourBudgetPerPerson") ", "
    NEAREST_RULE("budgetPeriod") ", "
    NEAREST_RULE("budgetEnforcement")
    " FROM projects p JOIN departments d ON d.id = p.department_id WHERE p.cluster_id = ?1 ORDER BY p.name";
// clang-format on
static const char SQL_QUEUES[] =
    "SELECT q.id, q.owner_kind, q.owner_id, q.node_pool_id, q.rank, q.gpu_deserved_milli, q.gpu_limit_milli,"
    " q.cpu_deserved_milli, q.cpu_limit_milli, q.memory_deserved_bytes, q.memory_limit_bytes, q.gpu_over_quota_weight,"
    " q.cpu_over_quota_weight, q.memory_over_quota_weight FROM queues q"
    " JOIN node_pools p ON p.id = q.node_pool_id AND p.deleted_ms = 0 AND p.cluster_id = ?1 ORDER BY q.id";

// The lists of columns are those of the tables of facts.
#define WORKLOAD_FACT(kind, member, column, plan) column ","
#define POD_FACT(kind, member, column, plan) column ","
// A start reads no workload that is over: + keeps it from going through all that aren't deleted.
static const char SQL_WORKLOADS_ACTIVE[] =
    "SELECT "
#include "model/workload_facts.def"
    " 0 FROM workloads WHERE +deleted_ms = 0 AND id IN (SELECT id FROM workloads INDEXED BY workloads_unfinished"
    " WHERE deleted_ms = 0 AND (phase NOT IN ('Completed', 'Failed', 'Stopped')"
    " OR (phase = 'Stopped' AND desired_phase <> 'Stopped') OR desired_phase = 'Deleted')"
    " UNION SELECT workload_id FROM pods INDEXED BY pods_placed WHERE deleted_ms = 0"
    " AND status IN ('Binding', 'Bound', 'Running', 'Releasing') AND node_id IS NOT NULL)";
static const char SQL_WORKLOADS_SINCE[] = "SELECT "
#include "model/workload_facts.def"
                                          " 0 FROM workloads WHERE revision > ?1";
#define POD_COLUMNS " workload_id, role, gpu_indices_json, node_name FROM pods"
static const char SQL_PODS_SINCE[] = "SELECT "
#include "model/pod_facts.def"
    POD_COLUMNS " WHERE revision > ?1";
static const char SQL_PODS_OF[] = "SELECT "
#include "model/pod_facts.def"
    POD_COLUMNS " WHERE workload_id = ?1 AND deleted_ms = 0";
static const char SQL_POD_NEWEST[] = "SELECT "
#include "model/pod_facts.def"
    POD_COLUMNS " WHERE workload_id = ?1 ORDER BY (started_ms > 0) DESC, attempt DESC, role, pod_index LIMIT 1";
static const char SQL_POD_NAMED[] = "SELECT "
#include "model/pod_facts.def"
    POD_COLUMNS " WHERE workload_id = ?1 AND name = ?2 ORDER BY attempt DESC LIMIT 1 OFFSET ?3";
static const char SQL_POD_OF_UUID[] = "SELECT "
#include "model/pod_facts.def"
    POD_COLUMNS " WHERE workload_id = ?1 AND uuid = ?2";
// Its next attempt goes before what was made after its end.
static const char SQL_POD_AFTER[] =
    "SELECT "
#include "model/pod_facts.def"
    POD_COLUMNS " JOIN (SELECT id AS old_id, role AS old_role, pod_index AS old_index, completed_ms AS old_end"
    " FROM pods WHERE uuid = ?2) WHERE workload_id = ?1 AND id > old_id AND started_ms > 0"
    " AND ((role = old_role AND pod_index = old_index) OR created_ms >= old_end)"
    " ORDER BY (role = old_role AND pod_index = old_index) DESC, attempt, role, pod_index, id LIMIT 1";
#undef WORKLOAD_FACT
#undef POD_FACT

static const char SQL_POD_CONTEXT[] =
    "SELECT uuid, name, type, project_name, namespace,"
    " CASE WHEN ?2 = 'master' AND master_spec_json IS NOT NULL THEN master_spec_json ELSE spec_json END,"
    " grace_period_ms, pods_wanted,"
    " CASE WHEN ?2 = 'master' AND master_spec_json IS NOT NULL THEN spec_json END, created_by,"
    " (SELECT number FROM project_numbers n WHERE n.project_id = workloads.project_id), machine_user FROM workloads "
    "WHERE id = ?1";

static const int64_t FAIR_HALF_LIFE_MS = INT64_C(7) * 24 * 3600 * 1000; // where nobody says another

typedef void (*read_row_fn)(sqlite3_stmt *stmt, struct arena *arena, void *out_row);

// Reads all rows of a statement with one number into an array.
static int read_rows(struct db_conn *conn, const char *sql, int64_t parameter, struct arena *arena, read_row_fn read,
                     size_t size, void *out_rows, size_t *out_count, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    if (parameter >= 0)
        db_bind_int(stmt, 1, parameter);
    char *rows = NULL;
    size_t count = 0, capacity = 0;
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1) {
        rows = arena_grow(arena, rows, &capacity, count + 1, size);
        memset(rows + count * size, 0, size);
        read(stmt, arena, rows + count++ * size);
    }
    db_release(conn, stmt);
    *(void **)out_rows = rows;
    *out_count = count;
    return rc;
}

static void read_pool(sqlite3_stmt *stmt, struct arena *arena, void *out_row)
{
    *(struct pool_row *)out_row = (struct pool_row){
        .id = db_column_int(stmt, 0),
        .name = db_column_text(stmt, 1, arena),
        .is_default = db_column_int(stmt, 2) != 0,
        .gpu_placement = db_column_text(stmt, 3, arena),
        .cpu_placement = db_column_text(stmt, 4, arena),
        .min_guaranteed_runtime_ms = db_column_int(stmt, 5),
        .time_based_fairshare_json = db_column_text(stmt, 6, arena),
        .topology_name = db_column_text(stmt, 7, arena),
        .reserves = db_column_int(stmt, 8) != 0,
        .reclaims_by_rank = db_column_int(stmt, 9) != 0,
    };
}

static void read_node(sqlite3_stmt *stmt, struct arena *arena, void *out_row)
{
    *(struct node_row *)out_row = (struct node_row){
        .id = db_column_int(stmt, 0),
        .name = db_column_text(stmt, 1, arena),
        .node_pool_id = db_column_int(stmt, 2),
        .ready = strcmp(db_column_text(stmt, 3, arena), "Ready") == 0,
        .cordoned = db_column_int(stmt, 4) != 0,
        .status_reason = db_column_text(stmt, 5, arena),
        .labels_json = db_column_text(stmt, 6, arena),
        .taints_json = db_column_text(stmt, 7, arena),
        .gpu_count = db_column_int(stmt, 8),
        .gpu_memory_mib = db_column_int(stmt, 9),
        .gpu_type = db_column_text(stmt, 10, arena),
        .mig_strategy = db_column_text(stmt, 11, arena),
        .mig_instances_json = db_column_text(stmt, 12, arena),
        .cpu_milli = db_column_int(stmt, 13),
        .memory_bytes = db_column_int(stmt, 14),
        .max_pods = db_column_int(stmt, 15),
        .unhealthy_gpus_json = db_column_text(stmt, 16, arena),
        .others_cpu_milli = db_column_int(stmt, 17),
        .others_memory_bytes = db_column_int(stmt, 18),
        .others_pods = db_column_int(stmt, 19),
        .gpus_withheld = db_column_int(stmt, 20),
        .reported_cordoned = db_column_int(stmt, 21) != 0,
        .drain = (enum node_drain)db_column_int(stmt, 22),
        .is_drained = db_column_int(stmt, 23) != 0,
    };
}

static void read_topology(sqlite3_stmt *stmt, struct arena *arena, void *out_row)
{
    *(struct topology_row *)out_row =
        (struct topology_row){.name = db_column_text(stmt, 0, arena), .levels_json = db_column_text(stmt, 1, arena)};
}

static int64_t milliseconds_or(sqlite3_stmt *stmt, int column, int64_t absent)
{
    return db_column_is_null(stmt, column) ? absent : db_column_int(stmt, column) * 1000;
}

// In thousandths; -1: none.
static int64_t milli_or_none(sqlite3_stmt *stmt, int column)
{
    return db_column_is_null(stmt, column) ? -1 : llround(db_column_real(stmt, column) * 1000);
}

static void read_department(sqlite3_stmt *stmt, struct arena *arena, void *out_row)
{
    *(struct department_row *)out_row = (struct department_row){
        .id = db_column_int(stmt, 0),
        .name = db_column_text(stmt, 1, arena),
        .created_ms = db_column_int(stmt, 2),
        .preempt_min_runtime_ms = milliseconds_or(stmt, 3, -1),
        .reclaim_min_runtime_ms = milliseconds_or(stmt, 4, -1),
    };
}

static void read_project(sqlite3_stmt *stmt, struct arena *arena, void *out_row)
{
    *(struct project_row *)out_row = (struct project_row){
        .id = db_column_int(stmt, 0),
        .department_id = db_column_int(stmt, 1),
        .name = db_column_text(stmt, 2, arena),
        .node_pools_json = db_column_text(stmt, 3, arena),
        .is_deleting = strcmp(db_column_text(stmt, 4, arena), "Deleting") == 0,
        .created_ms = db_column_int(stmt, 5),
        .preempt_min_runtime_ms = milliseconds_or(stmt, 6, -1),
        .reclaim_min_runtime_ms = milliseconds_or(stmt, 7, -1),
        .person_gpu_milli = milli_or_none(stmt, 8),
        .person_waiting_gpu_milli = milli_or_none(stmt, 9),
        .person_workloads = db_column_is_null(stmt, 10) ? -1 : db_column_int(stmt, 10),
        .is_fair_among_people = db_column_int(stmt, 11) != 0,
        .person_half_life_ms = milliseconds_or(stmt, 12, FAIR_HALF_LIFE_MS),
        .budget = {.hours_milli = milli_or_none(stmt, 13),
                   .person_hours_milli = milli_or_none(stmt, 14),
                   .period = budget_period_of(db_column_text(stmt, 15, arena)),
                   .refuses = !db_column_is_null(stmt, 16) && strcmp(db_column_text(stmt, 16, arena), "refuse") == 0},
    };
}

static void read_queue(sqlite3_stmt *stmt, struct arena *arena, void *out_row)
{
    *(struct queue_row *)out_row = (struct queue_row){
        .id = db_column_int(stmt, 0),
        .is_department = strcmp(db_column_text(stmt, 1, arena), "department") == 0,
        .owner_id = db_column_int(stmt, 2),
        .node_pool_id = db_column_int(stmt, 3),
        .rank = db_column_int(stmt, 4),
        .gpu_deserved_milli = db_column_quantity(stmt, 5),
        .gpu_limit_milli = db_column_quantity(stmt, 6),
        .cpu_deserved_milli = db_column_quantity(stmt, 7),
        .cpu_limit_milli = db_column_quantity(stmt, 8),
        .memory_deserved_bytes = db_column_quantity(stmt, 9),
        .memory_limit_bytes = db_column_quantity(stmt, 10),
        .gpu_weight = db_column_real(stmt, 11),
        .cpu_weight = db_column_real(stmt, 12),
        .memory_weight = db_column_real(stmt, 13),
    };
}

static int read_cluster(struct db_conn *conn, struct arena *arena, struct world_rows *out_rows, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_CLUSTER, &stmt, err) < 0)
        return -1;
    int rc = db_step(conn, stmt, err);
    if (rc == 1) {
        out_rows->cluster_id = db_column_int(stmt, 0);
        out_rows->cluster_uuid = db_column_text(stmt, 1, arena);
    }
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

static int read_settings(struct db_conn *conn, struct world_rows *rows, struct error *err)
{
    if (db_find_tenant_setting(conn, TENANT_SETTING_DEPARTMENTS, &rows->has_departments, NULL, err) < 0 ||
        db_find_tenant_setting(conn, TENANT_SETTING_CPU_QUOTA, &rows->has_cpu_quota, NULL, err) < 0)
        return -1;
    return db_find_tenant_setting(conn, TENANT_SETTING_OVER_QUOTA_WEIGHT, &rows->has_over_quota_weight, NULL, err);
}

int db_read_world(struct db_conn *conn, struct arena *arena, struct world_rows *out_rows, struct error *err)
{
    *out_rows = (struct world_rows){.cluster_uuid = ""};
    if (read_cluster(conn, arena, out_rows, err) < 0 || read_settings(conn, out_rows, err) < 0)
        return -1;
    const struct {
        const char *sql;
        read_row_fn read;
        size_t size;
        void *rows;
        size_t *count;
    } tables[] = {
        {SQL_POOLS, read_pool, sizeof(struct pool_row), &out_rows->pools, &out_rows->pool_count},
        {SQL_NODES, read_node, sizeof(struct node_row), &out_rows->nodes, &out_rows->node_count},
        {SQL_TOPOLOGIES, read_topology, sizeof(struct topology_row), &out_rows->topologies, &out_rows->topology_count},
        {SQL_DEPARTMENTS, read_department, sizeof(struct department_row), &out_rows->departments,
         &out_rows->department_count},
        {SQL_PROJECTS, read_project, sizeof(struct project_row), &out_rows->projects, &out_rows->project_count},
        {SQL_QUEUES, read_queue, sizeof(struct queue_row), &out_rows->queues, &out_rows->queue_count},
    };
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        if (read_rows(conn, tables[i].sql, out_rows->cluster_id, arena, tables[i].read, tables[i].size, tables[i].rows,
                      tables[i].count, err) < 0)
            return -1;
    return 0;
}

static void read_text_into(sqlite3_stmt *stmt, int column, char *out, size_t size)
{
    size_t length;
    snprintf(out, size, "%s", db_column_view(stmt, column, &length));
}

#define READ_NUMBER(target) target = db_column_int(stmt, column);
#define READ_FLAG(target) target = db_column_int(stmt, column) != 0;
#define READ_TEXT(target) target = db_column_text(stmt, column, arena);
#define READ_UUID(target) read_text_into(stmt, column, target, sizeof(target));
#define READ_REASON(target) read_text_into(stmt, column, target, sizeof(target));
#define READ_PHASE(target) target = phase_parse(db_column_text(stmt, column, arena));
#define READ_WISH(target) target = desired_phase_parse(db_column_text(stmt, column, arena));
#define READ_STATUS(target) target = pod_status_parse(db_column_text(stmt, column, arena));

static void read_workload(sqlite3_stmt *stmt, struct arena *arena, void *out_row)
{
    struct workload_facts *facts = out_row;
    int column = -1;
#define WORKLOAD_FACT(kind, member, sql, plan) \
    column++;                                  \
    READ_##kind(facts->member)
#include "model/workload_facts.def"
#undef WORKLOAD_FACT
}

static void read_pod(sqlite3_stmt *stmt, struct arena *arena, void *out_row)
{
    struct workload_pod_row *row = out_row;
    int column = -1;
#define POD_FACT(kind, member, sql, plan) \
    column++;                             \
    READ_##kind(row->facts.member)
#include "model/pod_facts.def"
#undef POD_FACT
    row->workload_id = db_column_int(stmt, ++column);
    row->role = db_column_text(stmt, ++column, arena);
    row->gpu_indices_json = db_column_text(stmt, ++column, arena);
    row->node_name = db_column_text(stmt, ++column, arena);
}

int db_read_workload_rows(struct db_conn *conn, int64_t since_revision, struct arena *arena,
                          struct workload_facts **out_rows, size_t *out_count, struct error *err)
{
    const char *sql = since_revision > 0 ? SQL_WORKLOADS_SINCE : SQL_WORKLOADS_ACTIVE;
    return read_rows(conn, sql, since_revision > 0 ? since_revision : -1, arena, read_workload,
                     sizeof(struct workload_facts), out_rows, out_count, err);
}

int db_read_pod_rows(struct db_conn *conn, int64_t since_revision, struct arena *arena,
                     struct workload_pod_row **out_rows, size_t *out_count, struct error *err)
{
    return read_rows(conn, SQL_PODS_SINCE, since_revision, arena, read_pod, sizeof(struct workload_pod_row), out_rows,
                     out_count, err);
}

int db_read_pod_rows_of(struct db_conn *conn, int64_t workload_id, struct arena *arena,
                        struct workload_pod_row **out_rows, size_t *out_count, struct error *err)
{
    return read_rows(conn, SQL_PODS_OF, workload_id, arena, read_pod, sizeof(struct workload_pod_row), out_rows,
                     out_count, err);
}

int db_read_pod_context(struct db_conn *conn, int64_t workload_id, const char *role, struct arena *arena,
                        struct pod_context *out_context, struct error *err)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_POD_CONTEXT, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload_id);
    db_bind_text(stmt, 2, role);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        *out_context = (struct pod_context){
            .workload_uuid = db_column_text(stmt, 0, arena),
            .workload_name = db_column_text(stmt, 1, arena),
            .workload_type = db_column_text(stmt, 2, arena),
            .project_name = db_column_text(stmt, 3, arena),
            .namespace = db_column_text(stmt, 4, arena),
            .spec_json = db_column_text(stmt, 5, arena),
            .grace_period_ms = db_column_int(stmt, 6),
            .pods_wanted = db_column_int(stmt, 7),
            .workload_spec_json = db_column_text(stmt, 8, arena),
            .submitted_by = db_column_text(stmt, 9, arena),
            .project_number = db_column_int(stmt, 10),
            .machine_user = db_column_text(stmt, 11, arena),
        };
    db_release(conn, stmt);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "no workload with number %" PRId64, workload_id);
    return rc < 0 ? -1 : 0;
}

int db_find_workload_project(struct db_conn *conn, const char *uuid, struct arena *arena, const char **out_project,
                             struct error *err)
{
    static const char SQL[] = "SELECT project_name FROM workloads WHERE uuid = ?1 AND deleted_ms = 0";
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, uuid);
    int rc = db_step(conn, stmt, err);
    if (rc >= 0)
        *out_project = rc == 1 ? db_column_text(stmt, 0, arena) : NULL;
    db_release(conn, stmt);
    return rc < 0 ? -1 : 0;
}

int db_find_pod_owner(struct db_conn *conn, const char *pod_uuid, struct arena *arena, const char **out_workload_uuid,
                      const char **out_project_name, struct error *err)
{
    static const char SQL[] = "SELECT w.uuid, w.project_name FROM pods p JOIN workloads w ON w.id = p.workload_id"
                              " WHERE p.uuid = ?1 AND w.deleted_ms = 0";
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, pod_uuid);
    int rc = db_step(conn, stmt, err);
    if (rc == 1) {
        *out_workload_uuid = db_column_text(stmt, 0, arena);
        *out_project_name = db_column_text(stmt, 1, arena);
    }
    db_release(conn, stmt);
    return rc;
}

int db_find_pod_for_logs(struct db_conn *conn, int64_t workload_id, const struct pod_search *search,
                         struct arena *arena, struct workload_pod_row *out_row, struct error *err)
{
    sqlite3_stmt *stmt;
    const char *sql = search->uuid          ? SQL_POD_OF_UUID
                      : search->uuid_before ? SQL_POD_AFTER
                      : search->name        ? SQL_POD_NAMED
                                            : SQL_POD_NEWEST;
    if (db_prepare(conn, sql, &stmt, err) < 0)
        return -1;
    db_bind_int(stmt, 1, workload_id);
    if (sql == SQL_POD_OF_UUID || sql == SQL_POD_AFTER)
        db_bind_text(stmt, 2, search->uuid ? search->uuid : search->uuid_before);
    if (sql == SQL_POD_NAMED) {
        db_bind_text(stmt, 2, search->name);
        db_bind_int(stmt, 3, search->previous ? 1 : 0);
    }
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        read_pod(stmt, arena, out_row);
    db_release(conn, stmt);
    return rc;
}
