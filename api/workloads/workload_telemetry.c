// Telemetry of workloads: how many there are, what they hold, how long they have been waiting; by at most two fields.
// Waiting times are told in four buckets, which take the place of one of the two.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/lists/list_query.h"
#include "api/lists/telemetry.h"
#include "api/lists/workload_scope.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"

#include <string.h>

#define BUCKET_KEY "PendingTime"

enum {
    COLUMN_GPU_MILLI,
    COLUMN_COUNT,
    COLUMN_GROUPS, // value and name of the first group, then of the second
};

// The first of where it runs, or of what it asked for.
#define POOL "nullif(w.pool, '')"
#define WAITING_MS "(unixepoch() * 1000 - w.phase_updated_ms)"
#define BUCKET                                                                                                 \
    "CASE WHEN " WAITING_MS " < 60000 THEN '0-1m' WHEN " WAITING_MS " < 600000 THEN '1m-10m' WHEN " WAITING_MS \
    " < 3600000 THEN '10m-1h' ELSE '1h+' END"

static const char *const BUCKETS[] = {"0-1m", "1m-10m", "10m-1h", "1h+"};

// w is a row of workload_sums, or of workloads where waiting times are asked for.
static const struct {
    const char *key, *value, *name;
} GROUPS[] = {
    {"ClusterId", "(SELECT uuid FROM clusters WHERE id = w.cluster_id)",
     "(SELECT name FROM clusters WHERE id = w.cluster_id)"},
    {"DepartmentId", "w.department_id", "(SELECT name FROM departments WHERE id = w.department_id)"},
    {"ProjectId", "w.project_id", "(SELECT name FROM projects WHERE id = w.project_id)"},
    {"Type", "w.type", "w.type"},
    {"CurrentNodepools", POOL, POOL},
    {"Phase", "w.phase", "w.phase"},
    {"Category", "w.category", "w.category"},
    {BUCKET_KEY, BUCKET, BUCKET},
};

// Sums by the groups asked for, one row each.
static struct list_source *make_source(const struct telemetry *telemetry, const struct workload_scope *scope,
                                       bool is_waiting, struct arena *arena)
{
    const char *columns =
        is_waiting ? "sum(w.gpu_allocated_milli), count(*)" : "sum(w.gpu_allocated_milli), sum(w.workload_count)";
    const char *group = NULL;
    for (size_t i = 0; i < telemetry->group_count; i++) {
        size_t at = 0;
        while (strcmp(GROUPS[at].key, telemetry->group_keys[i]) != 0)
            at++; // the document's enum, or our bucket
        columns = arena_printf(arena, "%s, %s, max(%s)", columns, GROUPS[at].value, GROUPS[at].name);
        group = group ? arena_printf(arena, "%s, %zu", group, i * 2 + COLUMN_GROUPS + 1) : "3";
    }
    struct list_source *source = arena_alloc(arena, sizeof(*source));
    *source = (struct list_source){
        .columns = columns,
        .from = !is_waiting        ? "workload_sums w"
                : scope->is_narrow ? WORKLOAD_SCOPE_FROM
                                   : "workloads w",
        .where = is_waiting ? "w.deleted_ms = 0" : NULL,
        .group = group,
        .id = "1",
        .order = group ? group : "1",
    };
    return source;
}

static void add_conditions(struct request *req, const struct workload_scope *scope, struct list_query *query)
{
    const char *cluster = request_query(req, "clusterId"), *pool = request_query(req, "nodepoolName");
    const char *department = request_query(req, "departmentId");
    size_t phase_count = 0;
    const char **phases = request_query_list(req, "filterByPhases", &phase_count);
    workload_scope_where(scope, query);
    if (cluster)
        list_query_where_text(query, "w.cluster_id = (SELECT id FROM clusters WHERE uuid = ?)", cluster);
    if (pool)
        list_query_where_text(query, "w.pool = ?", pool);
    if (department)
        list_query_where_text(query, "CAST(w.department_id AS TEXT) = ?", department);
    if (phase_count == 0)
        return;
    const char *list = "";
    for (size_t i = 0; i < phase_count; i++) // words of the document's enum
        list = arena_printf(req->arena, "%s%s'%s'", list, i ? ", " : "", phases[i]);
    list_query_where(query, arena_printf(req->arena, "w.phase IN (%s)", list));
}

static int add_up(struct request *req, struct telemetry *telemetry, struct list_query *query, bool is_gpu,
                  struct error *err)
{
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = list_query_open(query, conn, err);
    while (rc >= 0 && (rc = list_query_step(query, err)) == 1) {
        struct telemetry_group groups[TELEMETRY_GROUP_MAX] = {{.key = NULL}};
        for (size_t i = 0; i < telemetry->group_count; i++)
            groups[i] = (struct telemetry_group){
                .value = db_column_text(query->stmt, (int)(COLUMN_GROUPS + 2 * i), req->arena),
                .name = db_column_text(query->stmt, (int)(COLUMN_GROUPS + 2 * i + 1), req->arena),
            };
        double count = (double)db_column_int(query->stmt, COLUMN_COUNT);
        telemetry_add(telemetry, groups, is_gpu ? (double)db_column_int(query->stmt, COLUMN_GPU_MILLI) / 1000 : count);
    }
    list_query_close(query);
    db_give_back(req->server->db, conn);
    return rc;
}

// The buckets stand first, and empty ones are shown where nothing else is asked for.
static int take_buckets(struct telemetry *telemetry, struct error *err)
{
    if (telemetry->group_count >= TELEMETRY_GROUP_MAX)
        return error_set(err, ERROR_INVALID, "groupBy: at most one field beside PENDING_TIME_DISTRIBUTION");
    const char **keys = arena_array(telemetry->arena, TELEMETRY_GROUP_MAX, sizeof(*keys));
    keys[0] = BUCKET_KEY;
    if (telemetry->group_count)
        keys[1] = telemetry->group_keys[0];
    bool shows_empty = telemetry->group_count == 0;
    telemetry->group_keys = keys;
    telemetry->group_count++;
    telemetry->count = 0;
    for (size_t i = 0; shows_empty && i < sizeof(BUCKETS) / sizeof(BUCKETS[0]); i++) {
        struct telemetry_group groups[TELEMETRY_GROUP_MAX] = {{.value = BUCKETS[i], .name = BUCKETS[i]}};
        telemetry_add(telemetry, groups, 0);
    }
    return 0;
}

int op_get_workloads_telemetry(struct request *req, struct response *res, struct error *err)
{
    struct telemetry telemetry;
    struct list_query query;
    struct workload_scope scope;
    const char *type = request_query(req, "telemetryType");
    bool is_waiting = strcmp(type, "PENDING_TIME_DISTRIBUTION") == 0;
    telemetry_init(&telemetry, req);
    if (is_waiting && take_buckets(&telemetry, err) < 0)
        return -1;
    workload_scope_of_sum(req, false, &scope);
    scope.is_narrow = scope.is_narrow && is_waiting; // sums are few
    if (list_query_init(&query, make_source(&telemetry, &scope, is_waiting, req->arena), req, err) < 0)
        return -1;
    add_conditions(req, &scope, &query);
    if (is_waiting)
        list_query_where(&query, "w.phase IN ('Creating', 'Pending', 'Resuming')");
    list_query_take_all(&query);
    if (add_up(req, &telemetry, &query, strcmp(type, "GPU_ALLOCATION") == 0, err) < 0)
        return -1;
    return telemetry_answer(&telemetry, req, res);
}
