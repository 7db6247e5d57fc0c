// Quota, limits, weights and rank of projects and departments, a row for each in each node pool: for who looks after
// quotas. A batch changes many, each by itself.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/list_answer.h"
#include "api/operations.h"
#include "api/organisation/organisation.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/db.h"
#include "db/queues.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    COLUMN_NAME = QUEUE_COLUMN_COUNT,
    COLUMN_CLUSTER,
    COLUMN_PARENT,

    BATCH_MAX = 100
};

#define FIELDS_OF(parent)                                                                               \
    {                                                                                                   \
        {.name = "nodePoolName", .sql = "np.name", .type = LIST_TEXT, .is_searched = true},             \
            {.name = "nodePoolId", .sql = "CAST(np.id AS TEXT)", .type = LIST_TEXT},                    \
            {.name = "parentId", .sql = parent, .type = LIST_TEXT},                                     \
            {.name = "orgUnitId", .sql = "CAST(u.id AS TEXT)", .type = LIST_TEXT},                      \
            {.name = "orgUnitName", .sql = "u.name", .type = LIST_TEXT, .is_searched = true},           \
            {.name = "rank", .sql = "q.rank_name", .type = LIST_TEXT},                                  \
            {.name = "clusterId", .sql = "c.uuid", .type = LIST_TEXT},                                  \
            {.name = "gpuDeserved", .sql = "q.gpu_deserved_milli", .type = LIST_NUMBER, .scale = 1000}, \
            {.name = "gpuOverQuotaWeight", .sql = "q.gpu_over_quota_weight", .type = LIST_NUMBER},      \
    }
#define FROM_OF(table)                                                                                             \
    "queues q JOIN node_pools np ON np.id = q.node_pool_id JOIN " table " u ON u.id = q.owner_id JOIN clusters c " \
    "ON c.id = u.cluster_id"

static const struct list_field PROJECT_FIELDS[] = FIELDS_OF("CAST(u.department_id AS TEXT)");
static const struct list_field DEPARTMENT_FIELDS[] = FIELDS_OF("NULL");

static const struct list_source LISTS[] = {
    [ORG_UNIT_DEPARTMENT] = {.columns = QUEUE_COLUMNS ", u.name, c.uuid, NULL",
                             .from = FROM_OF("departments"),
                             .where = "q.owner_kind = 'department' AND np.deleted_ms = 0",
                             .id = "q.id",
                             .order = "u.name, np.name, q.id",
                             .fields = DEPARTMENT_FIELDS,
                             .field_count = sizeof(DEPARTMENT_FIELDS) / sizeof(DEPARTMENT_FIELDS[0])},
    [ORG_UNIT_PROJECT] = {.columns = QUEUE_COLUMNS ", u.name, c.uuid, CAST(u.department_id AS TEXT)",
                          .from = FROM_OF("projects"),
                          .where = "q.owner_kind = 'project' AND np.deleted_ms = 0",
                          .id = "q.id",
                          .order = "u.name, np.name, q.id",
                          .fields = PROJECT_FIELDS,
                          .field_count = sizeof(PROJECT_FIELDS) / sizeof(PROJECT_FIELDS[0])},
};

static void see(struct request *req, enum org_unit_kind kind, struct list_query *query)
{
    bool is_project = kind == ORG_UNIT_PROJECT;
    struct scope_filter filter;
    access_filter(req, is_project ? RESOURCE_TYPE_PROJECT : RESOURCE_TYPE_DEPARTMENT, ACTION_READ, &filter);
    list_query_where_scope(query, &filter, "u.cluster_id", is_project ? "u.department_id" : "u.id",
                           is_project ? "u.id" : "NULL");
}

static void write_row(struct json_writer *json, sqlite3_stmt *stmt, const struct request *req, const void *context)
{
    struct arena *arena = req->arena;
    (void)context;
    struct queue queue = queue_from_row(stmt, arena);
    const char *parent = db_column_text(stmt, COLUMN_PARENT, arena);
    json_begin_object(json);
    json_text(json, "id", arena_printf(arena, "%" PRId64, queue.id));
    json_text(json, "orgUnitId", arena_printf(arena, "%" PRId64, queue.owner_id));
    json_text(json, "orgUnitName", db_column_text(stmt, COLUMN_NAME, arena));
    if (parent && *parent)
        json_text(json, "parentId", parent);
    json_text(json, "clusterId", db_column_text(stmt, COLUMN_CLUSTER, arena));
    json_text(json, "nodePoolId", arena_printf(arena, "%" PRId64, queue.node_pool_id));
    json_text(json, "nodePoolName", queue.node_pool_name);
    queue_write_quotas(&queue, json);
    json_key(json, "quotaStatus");
    json_begin_object(json);
    queue_write_quota_status(&queue, 1, json);
    json_end_object(json);
    json_end_object(json);
}

// The array's name is as in Run:ai 2.24.
static const struct list_form FORMS[] = {
    [ORG_UNIT_DEPARTMENT] = {.key = "nodePoolResources", .tells_next = true, .write_row = write_row},
    [ORG_UNIT_PROJECT] = {.key = "resources", .tells_next = true, .write_row = write_row},
};

static int answer_list(struct request *req, struct response *res, enum org_unit_kind kind, struct error *err)
{
    struct list_query query;
    if (list_query_init(&query, &LISTS[kind], req, err) < 0)
        return -1;
    see(req, kind, &query);
    return list_answer(req, res, &query, &FORMS[kind], NULL, err);
}

static int answer_count(struct request *req, struct response *res, enum org_unit_kind kind, struct error *err)
{
    struct list_query query;
    if (list_query_init(&query, &LISTS[kind], req, err) < 0)
        return -1;
    see(req, kind, &query);
    return list_answer_count(req, res, &query, err);
}

// One change as an entry of `resources`.
static json_t *entry_of(const json_t *change)
{
    static const char *const RESOURCES[] = {"gpu", "cpu", "memory"};
    const json_t *resources = json_object_get(change, "resources"), *value = json_object_get(change, "rank");
    json_t *entry = json_pack("{s:{s:O}}", "nodePool", "id", json_object_get(change, "nodePoolId"));
    if (value)
        json_object_set(entry, "rank", (json_t *)value);
    for (size_t i = 0; i < sizeof(RESOURCES) / sizeof(RESOURCES[0]); i++)
        if ((value = json_object_get(resources, RESOURCES[i])))
            json_object_set(entry, RESOURCES[i], (json_t *)value);
    return json_pack("[o]", entry);
}

static int change_one(struct request *req, enum org_unit_kind kind, const json_t *change, struct error *err)
{
    int64_t id = id_from_text(json_string_value(json_object_get(change, "orgUnitId")));
    int rc = kind == ORG_UNIT_PROJECT
                 ? access_check_project(req, id, RESOURCE_TYPE_PROJECT, ACTION_UPDATE, NULL, err)
                 : access_check_department(req, id, RESOURCE_TYPE_DEPARTMENT, ACTION_UPDATE, NULL, err);
    if (rc < 0)
        return -1;
    json_t *entries = entry_of(change);
    rc = org_unit_set_resources(req, kind, id, entries, false, err);
    json_decref(entries);
    return rc;
}

static int write_changed(struct request *req, enum org_unit_kind kind, const json_t *change, struct json_writer *json,
                         struct error *err)
{
    static const struct list_request ONE = {.limit = 1};
    struct list_query query;
    if (list_query_build(&query, &LISTS[kind], &ONE, req->arena, err) < 0)
        return -1;
    list_query_where_text(&query, "CAST(u.id AS TEXT) = ?", json_string_value(json_object_get(change, "orgUnitId")));
    list_query_where_text(&query, "CAST(np.id AS TEXT) = ?", json_string_value(json_object_get(change, "nodePoolId")));
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = list_query_open(&query, conn, err);
    if (rc == 0 && (rc = list_query_step(&query, err)) == 1)
        write_row(json, query.stmt, req, NULL);
    list_query_close(&query);
    db_give_back(req->server->db, conn);
    return rc < 0 ? -1 : 0;
}

static void write_failed(struct json_writer *json, const json_t *change, const struct error *err)
{
    char *request = json_dumps(change, JSON_COMPACT);
    json_begin_object(json);
    json_raw(json, "request", request);
    json_key(json, "error");
    json_begin_object(json);
    json_int(json, "code", error_status(err->code));
    json_text(json, "message", err->message);
    if (err->details[0])
        json_text(json, "details", err->details);
    json_end_object(json);
    json_end_object(json);
    free(request);
}

static int change_many(struct request *req, struct response *res, enum org_unit_kind kind, struct error *err)
{
    const json_t *changes = json_object_get(req->body, "patchRequests"), *change;
    size_t count = json_array_size(changes), failed = 0, i;
    struct json_writer json;
    char uuid[UUID_SIZE];
    if (count == 0 || count > BATCH_MAX)
        return error_set(err, ERROR_INVALID, "patchRequests: 1 to %d, got %zu", BATCH_MAX, count);
    struct error *errors = arena_array(req->arena, count, sizeof(*errors));
    json_array_foreach(changes, i, change) {
        if (change_one(req, kind, change, &errors[i]) < 0)
            failed++;
    }
    uuid_create(uuid);
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_text(&json, "id", uuid);
    json_key(&json, "succeeded");
    json_begin_array(&json);
    json_array_foreach(changes, i, change) {
        if (errors[i].code == ERROR_NONE && write_changed(req, kind, change, &json, err) < 0)
            return -1;
    }
    json_end_array(&json);
    json_key(&json, "failed");
    json_begin_array(&json);
    json_array_foreach(changes, i, change) {
        if (errors[i].code != ERROR_NONE)
            write_failed(&json, change, &errors[i]);
    }
    json_end_array(&json);
    json_int(&json, "totalRequested", (int64_t)count);
    json_int(&json, "totalSuccessful", (int64_t)(count - failed));
    json_int(&json, "totalFailed", (int64_t)failed);
    json_end_object(&json);
    return 0;
}

int op_get_projects_node_pool_resources(struct request *req, struct response *res, struct error *err)
{
    return answer_list(req, res, ORG_UNIT_PROJECT, err);
}

int op_count_projects_node_pool_resources(struct request *req, struct response *res, struct error *err)
{
    return answer_count(req, res, ORG_UNIT_PROJECT, err);
}

int op_patch_projects_node_pool_resources(struct request *req, struct response *res, struct error *err)
{
    return change_many(req, res, ORG_UNIT_PROJECT, err);
}

int op_get_departments_node_pool_resources(struct request *req, struct response *res, struct error *err)
{
    return answer_list(req, res, ORG_UNIT_DEPARTMENT, err);
}

int op_count_departments_node_pool_resources(struct request *req, struct response *res, struct error *err)
{
    return answer_count(req, res, ORG_UNIT_DEPARTMENT, err);
}

int op_patch_departments_node_pool_resources(struct request *req, struct response *res, struct error *err)
{
    return change_many(req, res, ORG_UNIT_DEPARTMENT, err);
}
