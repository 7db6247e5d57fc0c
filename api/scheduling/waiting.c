// GET /scheduler/waiting: who waits, grouped by node pool and reason, of the workloads that the caller may read.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/findings.h"
#include "api/lists/list_query.h"
#include "api/lists/scheduler_pace.h"
#include "api/lists/visibility.h"
#include "api/operations.h"
#include "api/organisation/organisation.h"
#include "api/organisation/overview.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "db/db.h"
#include "db/org_units.h"
#include "model/workload_spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMN_ID,
    COLUMN_POOL,
    COLUMN_CODE,
    COLUMN_PROJECT,
    COLUMN_PROJECT_NAME,
    COLUMN_SINCE,
    COLUMN_GPUS,
    COLUMN_EXPECTED,
};

// The node pool of the reason, else the first that the workload asks for, its project's, or the one that every cluster
// has.
#define POOL                                                                                             \
    "coalesce(w.explanation_json ->> '$.pool', w.node_pools_json ->> '$[0]', " PROJECT_NODE_POOLS " ->>" \
    " '$[0]', 'default')"
#define CODE "coalesce(w.explanation_json ->> '$.code', '')"

static const struct list_source WAITING = {
    .columns = "w.id, " POOL ", " CODE ", w.project_id, w.project_name, w.phase_updated_ms, w.gpu_requested_milli,"
               " w.explanation_json ->> '$.forecast.at'",
    .from = "projects p JOIN departments d ON d.id = p.department_id CROSS JOIN workloads w ON w.project_id = p.id",
    .where = "w.deleted_ms = 0 AND w.phase = 'Pending'",
    .id = "w.id",
    .order = POOL ", " CODE ", w.project_id, w.id",
};

static const char SQL_LONGEST[] = "SELECT w.id, w.uuid, w.name, w.project_name, w.explanation_json FROM workloads w"
                                  " WHERE w.id IN (SELECT value FROM json_each(?))";

struct waiting_project {
    int64_t id;
    const char *name;
    int64_t count, gpu_milli;
};

struct waiting_group {
    const char *pool, *code; // code "": the scheduler has not looked at them
    int64_t count, owed_count, gpu_milli;
    int64_t since_ms, longest_id;
    const char *expected_at; // the earliest, by ISO 8601 in UTC; NULL: not known
    struct waiting_project *projects;
    size_t project_count, project_capacity;
    const char *uuid, *name, *project_name; // of the longest
    json_t *explanation;
};

struct waiting_groups {
    struct waiting_group *groups;
    size_t count, capacity;
};

static void add_row(struct waiting_groups *groups, sqlite3_stmt *row, struct arena *arena)
{
    const char *pool = db_column_text(row, COLUMN_POOL, arena), *code = db_column_text(row, COLUMN_CODE, arena);
    const char *expected_at = db_column_text(row, COLUMN_EXPECTED, arena);
    int64_t project_id = db_column_int(row, COLUMN_PROJECT), since_ms = db_column_int(row, COLUMN_SINCE);
    struct waiting_group *group = groups->count ? &groups->groups[groups->count - 1] : NULL;
    if (!group || strcmp(group->pool, pool) != 0 || strcmp(group->code, code) != 0) {
        groups->groups = arena_grow(arena, groups->groups, &groups->capacity, groups->count + 1, sizeof(*group));
        group = &groups->groups[groups->count++];
        *group = (struct waiting_group){.pool = pool, .code = code, .since_ms = INT64_MAX};
    }
    if (!group->project_count || group->projects[group->project_count - 1].id != project_id) {
        group->projects = arena_grow(arena, group->projects, &group->project_capacity, group->project_count + 1,
                                     sizeof(*group->projects));
        group->projects[group->project_count++] =
            (struct waiting_project){.id = project_id, .name = db_column_text(row, COLUMN_PROJECT_NAME, arena)};
    }
    struct waiting_project *project = &group->projects[group->project_count - 1];
    int64_t gpu_milli = db_column_int(row, COLUMN_GPUS);
    project->count++;
    group->count++;
    project->gpu_milli += gpu_milli;
    group->gpu_milli += gpu_milli;
    if (since_ms < group->since_ms) {
        group->since_ms = since_ms;
        group->longest_id = db_column_int(row, COLUMN_ID);
    }
    if (expected_at && (!group->expected_at || strcmp(expected_at, group->expected_at) < 0))
        group->expected_at = expected_at;
}

static int read_groups(struct request *req, struct db_conn *conn, struct waiting_groups *groups, struct error *err)
{
    const char *project = request_query(req, "projectId"), *department = request_query(req, "departmentId"),
               *pool = request_query(req, "nodePool");
    struct list_query query;
    struct scope_filter filter;
    if (list_query_init(&query, &WAITING, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &filter);
    list_query_where_scope(&query, &filter, "p.cluster_id", "p.department_id", "p.id");
    if (project)
        list_query_where_int(&query, "p.id = ?", id_from_text(project));
    if (department)
        list_query_where_int(&query, "p.department_id = ?", id_from_text(department));
    if (pool)
        list_query_where_text(&query, POOL " = ?", pool);
    list_query_take_all(&query);
    int rc = list_query_open(&query, conn, err);
    while (rc >= 0 && (rc = list_query_step(&query, err)) == 1)
        add_row(groups, query.stmt, req->arena);
    list_query_close(&query);
    return rc;
}

static int read_longest(struct request *req, struct db_conn *conn, struct waiting_groups *groups, struct error *err)
{
    sqlite3_stmt *stmt;
    const char *ids = "";
    int rc;
    for (size_t i = 0; i < groups->count; i++)
        ids = arena_printf(req->arena, "%s%s%" PRId64, ids, i ? "," : "", groups->groups[i].longest_id);
    if (db_prepare(conn, SQL_LONGEST, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, arena_printf(req->arena, "[%s]", ids));
    while ((rc = db_step(conn, stmt, err)) == 1)
        for (size_t i = 0; i < groups->count; i++) {
            struct waiting_group *group = &groups->groups[i];
            if (group->longest_id != db_column_int(stmt, 0))
                continue;
            const char *stored = db_column_text(stmt, 4, req->arena);
            group->uuid = db_column_text(stmt, 1, req->arena);
            group->name = db_column_text(stmt, 2, req->arena);
            group->project_name = db_column_text(stmt, 3, req->arena);
            if (stored)
                (void)json_reader_parse(stored, strlen(stored), &group->explanation, NULL); // our own column
        }
    db_release(conn, stmt);
    return rc;
}

static bool is_refused(const struct waiting_group *group)
{
    return strcmp(group->code, "NonPreemptibleOverQuota") == 0 || strcmp(group->code, "OverLimit") == 0 ||
           strcmp(group->code, "OverPersonLimit") == 0 || strcmp(group->code, "OverBudget") == 0;
}

// Counts whose project holds less than its quota in the group's node pool, and can be served as asked; two statements.
static int count_owed(struct request *req, struct db_conn *conn, struct waiting_groups *groups, struct error *err)
{
    struct overview_shares shares;
    if (overview_read_shares(req, conn, &shares, err) < 0)
        return -1;
    for (int is_counting = 0; is_counting < 2; is_counting++) {
        for (size_t i = 0; i < groups->count; i++) {
            struct waiting_group *group = &groups->groups[i];
            for (size_t k = 0; k < group->project_count; k++) {
                const struct waiting_project *project = &group->projects[k];
                struct overview_share *share = overview_find_share(&shares, project->id, group->pool);
                if (share && is_refused(group))
                    share->refused += is_counting ? 0 : project->gpu_milli;
                else if (share && is_counting && share->owed > 0)
                    group->owed_count += project->count;
            }
        }
        if (!is_counting)
            overview_reckon_shares(&shares);
    }
    return 0;
}

// Who is owed comes first, then who asks for most.
static int compare_groups(const void *a, const void *b)
{
    const struct waiting_group *left = a, *right = b;
    if ((left->owed_count > 0) != (right->owed_count > 0))
        return left->owed_count > 0 ? -1 : 1;
    if (left->gpu_milli != right->gpu_milli)
        return left->gpu_milli > right->gpu_milli ? -1 : 1;
    int order = strcmp(left->pool, right->pool);
    return order ? order : strcmp(left->code, right->code);
}

static const json_t *find_holders(const struct waiting_group *group)
{
    size_t i;
    const json_t *finding;
    json_array_foreach(json_object_get(group->explanation, "nodePools"), i, finding) {
        const char *pool = json_string_value(json_object_get(finding, "nodePool"));
        const json_t *holders = json_object_get(finding, "reclaim");
        if (holders && (!pool || strcmp(pool, group->pool) == 0))
            return holders;
    }
    return NULL;
}

static void write_projects(const struct waiting_group *group, struct json_writer *json, struct arena *arena)
{
    json_key(json, "projects");
    json_begin_array(json);
    for (size_t i = 0; i < group->project_count; i++) {
        const struct waiting_project *project = &group->projects[i];
        json_begin_object(json);
        json_text(json, "id", arena_printf(arena, "%" PRId64, project->id));
        json_text(json, "name", project->name);
        json_int(json, "count", project->count);
        json_milli(json, "gpus", project->gpu_milli);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_group(const struct waiting_group *group, const struct visibility *visibility,
                        struct json_writer *json, struct arena *arena)
{
    findings_show_sentence(visibility, group->explanation, "sentence");
    findings_show_sentence(visibility, group->explanation, "why");
    findings_show(visibility, json_object_get(group->explanation, "nodePools"));
    const json_t *holders = find_holders(group);
    json_begin_object(json);
    json_text(json, "nodePool", group->pool);
    json_text(json, "code", group->code[0] ? group->code : NULL);
    json_int(json, "count", group->count);
    json_int(json, "countOwed", group->owed_count);
    json_milli(json, "gpus", group->gpu_milli);
    json_time(json, "waitingSince", group->since_ms);
    json_text(json, "sentence", json_string_value(json_object_get(group->explanation, "sentence")));
    json_text(json, "why", json_string_value(json_object_get(group->explanation, "why")));
    json_text(json, "expectedAt", group->expected_at);
    write_projects(group, json, arena);
    json_raw(json, "holders", holders ? workload_spec_text(holders, arena) : "[]");
    json_key(json, "longest");
    json_begin_object(json);
    json_text(json, "id", group->uuid);
    json_text(json, "name", group->name);
    json_text(json, "projectName", group->project_name);
    json_end_object(json);
    json_end_object(json);
}

static void write_groups(struct request *req, struct response *res, const struct waiting_groups *groups)
{
    struct json_writer json;
    struct visibility visibility;
    int64_t count = 0, gpu_milli = 0;
    visibility_open(&visibility, req);
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "groups");
    json_begin_array(&json);
    for (size_t i = 0; i < groups->count; i++) {
        count += groups->groups[i].count;
        gpu_milli += groups->groups[i].gpu_milli;
        write_group(&groups->groups[i], &visibility, &json, req->arena);
    }
    json_end_array(&json);
    json_int(&json, "count", count);
    json_milli(&json, "gpus", gpu_milli);
    scheduler_pace_write(&json, req->server->reconciler);
    json_end_object(&json);
    visibility_close(&visibility);
}

int op_get_scheduler_waiting(struct request *req, struct response *res, struct error *err)
{
    struct waiting_groups groups = {0};
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_read_begin(conn, err); // so that the longest of each group is still there
    if (rc == 0) {
        rc = read_groups(req, conn, &groups, err);
        if (rc == 0)
            rc = read_longest(req, conn, &groups, err);
        if (rc == 0)
            rc = count_owed(req, conn, &groups, err);
        db_read_end(conn);
    }
    db_give_back(req->server->db, conn);
    if (groups.count)
        qsort(groups.groups, groups.count, sizeof(*groups.groups), compare_groups);
    if (rc == 0)
        write_groups(req, res, &groups);
    for (size_t i = 0; i < groups.count; i++)
        json_decref(groups.groups[i].explanation);
    return rc;
}
