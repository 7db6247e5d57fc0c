// Who waits, and what projects hold of what they are owed: exact however many wait.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/lists/visibility.h"
#include "api/organisation/organisation.h"
#include "api/organisation/overview.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/quantity.h"
#include "db/db.h"
#include "model/workload_spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMN_ID,
    COLUMN_PROJECT,
    COLUMN_NODE_POOL,
    COLUMN_REASON,
    COLUMN_SINCE,
    COLUMN_GPUS,
};

// From the index workloads_by_state alone, in no order. The node pool is the first that the workload asks for, else its
// project's, its department's, or the one that every cluster has.
static const struct list_source WAITING_LIST = {
    .columns = "w.id, w.project_id, coalesce(w.node_pools_json ->> '$[0]', p.default_node_pools_json ->> '$[0]', "
               "d.default_node_pools_json ->> '$[0]', 'default'), w.phase_reason, w.phase_updated_ms, "
               "w.gpu_requested_milli",
    .from = "projects p JOIN departments d ON d.id = p.department_id CROSS JOIN workloads w ON w.project_id = p.id",
    .where = "w.deleted_ms = 0 AND w.phase = 'Pending'",
    .id = "w.id",
    .order = "NULL",
};

static const char SQL_SHOWN[] =
    "SELECT w.id, w.uuid, w.name, w.type, w.project_name, w.pods_wanted, w.phase_message, w.phase_reason, "
    "w.explanation_json ->> '$.sentence', w.explanation_json -> '$.forecast' FROM workloads w "
    "WHERE w.id IN (SELECT value FROM json_each(?))";

void overview_add_scope(const struct request *req, struct list_query *query)
{
    const char *department_id = request_query(req, "departmentId"), *project_id = request_query(req, "projectId");
    if (department_id)
        list_query_where_int(query, "p.department_id = ?", id_from_text(department_id));
    if (project_id)
        list_query_where_int(query, "p.id = ?", id_from_text(project_id));
}

static int compare_by_id(const void *a, const void *b)
{
    const struct org_unit *left = *(struct org_unit *const *)a, *right = *(struct org_unit *const *)b;
    return (left->id > right->id) - (left->id < right->id);
}

int overview_read_shares(struct request *req, struct db_conn *conn, struct overview_shares *out_shares,
                         struct error *err)
{
    struct list_query query;
    struct overview_shares shares = {0};
    if (projects_init_query(req, &query, err) < 0)
        return -1;
    list_query_take_all(&query);
    overview_add_scope(req, &query);
    if (org_units_read(req, conn, ORG_UNIT_PROJECT, &query, &shares.projects, &shares.project_count, err) < 0)
        return -1;
    shares.by_id = arena_array(req->arena, shares.project_count, sizeof(struct org_unit *));
    shares.shares = arena_array(req->arena, shares.project_count, sizeof(struct overview_share *));
    for (size_t i = 0; i < shares.project_count; i++)
        shares.by_id[i] = &shares.projects[i];
    if (shares.project_count)
        qsort(shares.by_id, shares.project_count, sizeof(struct org_unit *), compare_by_id);
    for (size_t i = 0; i < shares.project_count; i++) {
        const struct org_unit *project = shares.by_id[i];
        shares.shares[i] = arena_array(req->arena, project->queue_count, sizeof(struct overview_share));
        for (size_t q = 0; q < project->queue_count; q++)
            shares.shares[i][q].queue = &project->queues[q];
    }
    *out_shares = shares;
    return 0;
}

static const struct overview_share *shares_of(const struct overview_shares *shares, const struct org_unit *project)
{
    struct org_unit **found =
        bsearch(&project, shares->by_id, shares->project_count, sizeof(struct org_unit *), compare_by_id);
    return shares->shares[found - shares->by_id];
}

// Of a workload's project in its node pool; NULL where the caller does not see one.
static struct overview_share *find_share(const struct overview_shares *shares, const struct overview_waiter *waiter)
{
    struct org_unit wanted = {.id = waiter->project_id}, *key = &wanted;
    struct org_unit **found = NULL;
    if (shares->project_count)
        found = bsearch(&key, shares->by_id, shares->project_count, sizeof(struct org_unit *), compare_by_id);
    for (size_t q = 0; found && q < (*found)->queue_count; q++)
        if (strcmp((*found)->queues[q].node_pool_name, waiter->node_pool) == 0)
            return &shares->shares[found - shares->by_id][q];
    return NULL;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// What is asked for and not held is refused, owed, or more than is owed. The queue's figures are the latest cycle's.
static void reckon(struct overview_share *share)
{
    const struct queue_resource *gpu = &share->queue->gpu;
    int64_t asked = gpu->requested > gpu->allocated ? gpu->requested - gpu->allocated : 0;
    share->refused = smaller(share->refused, asked);
    share->waiting = asked - share->refused;
    if (gpu->deserved == QUANTITY_UNLIMITED)
        share->owed = share->waiting;
    else
        share->owed = gpu->deserved > gpu->allocated ? smaller(share->waiting, gpu->deserved - gpu->allocated) : 0;
}

static bool comes_before(const struct overview_waiter *a, const struct overview_waiter *b)
{
    if (a->is_owed != b->is_owed)
        return a->is_owed;
    return a->since_ms != b->since_ms ? a->since_ms < b->since_ms : a->id < b->id;
}

static void show_first(struct overview_waiting *waiting, const struct overview_waiter *waiter)
{
    size_t at = waiting->shown_count;
    while (at > 0 && comes_before(waiter, &waiting->shown[at - 1]))
        at--;
    if (at == OVERVIEW_WAITING_SHOWN)
        return;
    if (waiting->shown_count < OVERVIEW_WAITING_SHOWN)
        waiting->shown_count++;
    memmove(&waiting->shown[at + 1], &waiting->shown[at],
            (waiting->shown_count - 1 - at) * sizeof(struct overview_waiter));
    waiting->shown[at] = *waiter;
}

static int read_waiters(struct request *req, struct db_conn *conn, struct overview_waiter **out_waiters,
                        size_t *out_count, struct error *err)
{
    struct list_query query;
    struct scope_filter filter;
    if (list_query_init(&query, &WAITING_LIST, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &filter);
    list_query_where_scope(&query, &filter, "p.cluster_id", "p.department_id", "p.id");
    overview_add_scope(req, &query);
    list_query_take_all(&query);
    struct overview_waiter *waiters = NULL;
    size_t count = 0, capacity = 0;
    int rc = list_query_open(&query, conn, err);
    while (rc >= 0 && (rc = list_query_step(&query, err)) == 1) {
        waiters = arena_grow(req->arena, waiters, &capacity, count + 1, sizeof(*waiters));
        waiters[count++] = (struct overview_waiter){
            .id = db_column_int(query.stmt, COLUMN_ID),
            .project_id = db_column_int(query.stmt, COLUMN_PROJECT),
            .node_pool = db_column_text(query.stmt, COLUMN_NODE_POOL, req->arena),
            .is_refused = db_column_text(query.stmt, COLUMN_REASON, req->arena)[0] != '\0',
            .since_ms = db_column_int(query.stmt, COLUMN_SINCE),
            .gpu_milli = db_column_int(query.stmt, COLUMN_GPUS),
        };
    }
    list_query_close(&query);
    *out_waiters = waiters;
    *out_count = count;
    return rc;
}

int overview_read_waiting(struct request *req, struct db_conn *conn, struct overview_shares *shares,
                          struct overview_waiting *out_waiting, struct error *err)
{
    struct overview_waiter *waiters;
    size_t count;
    *out_waiting = (struct overview_waiting){0};
    if (read_waiters(req, conn, &waiters, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct overview_share *share = waiters[i].is_refused ? find_share(shares, &waiters[i]) : NULL;
        if (share)
            share->refused += waiters[i].gpu_milli;
        out_waiting->gpu_milli += waiters[i].gpu_milli;
    }
    for (size_t i = 0; i < shares->project_count; i++)
        for (size_t q = 0; q < shares->by_id[i]->queue_count; q++) {
            reckon(&shares->shares[i][q]);
            out_waiting->owed_milli += shares->shares[i][q].owed;
            out_waiting->refused_milli += shares->shares[i][q].refused;
        }
    out_waiting->count = (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        const struct overview_share *share = find_share(shares, &waiters[i]);
        waiters[i].is_owed = share && share->owed > 0 && !waiters[i].is_refused;
        show_first(out_waiting, &waiters[i]);
    }
    return 0;
}

// A row of SQL_SHOWN, kept until its turn: the rows come in no order.
struct shown_row {
    int64_t id;
    const char *uuid, *name, *type, *project_name, *phase_message, *phase_reason, *sentence, *forecast;
    int64_t pods_wanted;
};

static int read_shown(struct request *req, struct db_conn *conn, const struct overview_waiting *waiting,
                      struct shown_row *rows, struct error *err)
{
    sqlite3_stmt *stmt;
    const char *ids = "";
    size_t count = 0;
    for (size_t i = 0; i < waiting->shown_count; i++)
        ids = arena_printf(req->arena, "%s%s%" PRId64, ids, i ? "," : "", waiting->shown[i].id);
    if (db_prepare(conn, SQL_SHOWN, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, arena_printf(req->arena, "[%s]", ids));
    int rc;
    while ((rc = db_step(conn, stmt, err)) == 1)
        rows[count++] = (struct shown_row){
            .id = db_column_int(stmt, 0),
            .uuid = db_column_text(stmt, 1, req->arena),
            .name = db_column_text(stmt, 2, req->arena),
            .type = db_column_text(stmt, 3, req->arena),
            .project_name = db_column_text(stmt, 4, req->arena),
            .pods_wanted = db_column_int(stmt, 5),
            .phase_message = db_column_text(stmt, 6, req->arena),
            .phase_reason = db_column_text(stmt, 7, req->arena),
            .sentence = db_column_text(stmt, 8, req->arena),
            .forecast = db_column_text(stmt, 9, req->arena),
        };
    db_release(conn, stmt);
    return rc;
}

static void write_shown(const struct overview_waiter *waiter, const struct shown_row *row,
                        const struct visibility *visibility, struct json_writer *json)
{
    json_begin_object(json);
    json_text(json, "id", row->uuid);
    json_text(json, "name", row->name);
    json_text(json, "type", row->type);
    json_text(json, "projectId", arena_printf(visibility->req->arena, "%" PRId64, waiter->project_id));
    json_text(json, "projectName", row->project_name);
    json_text(json, "nodePool", waiter->node_pool);
    json_milli(json, "gpus", waiter->gpu_milli);
    json_int(json, "pods", row->pods_wanted);
    json_time(json, "waitingSince", waiter->since_ms);
    json_bool(json, "owed", waiter->is_owed);
    json_text(json, "phaseMessage", row->phase_message);
    json_text(json, "phaseReason", row->phase_reason[0] ? row->phase_reason : NULL);
    json_text(json, "sentence", visibility_sentence(visibility, row->sentence));
    json_raw(json, "forecast", row->forecast ? row->forecast : "null");
    json_end_object(json);
}

int overview_write_waiting(struct request *req, struct db_conn *conn, const struct overview_waiting *waiting,
                           struct json_writer *json, struct error *err)
{
    struct shown_row rows[OVERVIEW_WAITING_SHOWN] = {0};
    struct visibility visibility;
    if (read_shown(req, conn, waiting, rows, err) < 0)
        return -1;
    visibility_open(&visibility, req);
    json_key(json, "waiting");
    json_begin_object(json);
    json_int(json, "count", waiting->count);
    json_milli(json, "gpus", waiting->gpu_milli);
    json_milli(json, "gpusOwed", waiting->owed_milli);
    json_milli(json, "gpusRefused", waiting->refused_milli);
    json_key(json, "workloads");
    json_begin_array(json);
    for (size_t i = 0; i < waiting->shown_count; i++)
        for (size_t r = 0; r < waiting->shown_count; r++)
            if (rows[r].id == waiting->shown[i].id)
                write_shown(&waiting->shown[i], &rows[r], &visibility, json);
    json_end_array(json);
    json_end_object(json);
    visibility_close(&visibility);
    return 0;
}

static void write_limit(struct json_writer *json, const char *key, int64_t milli)
{
    if (milli == QUANTITY_UNLIMITED)
        json_null_at(json, key);
    else
        json_milli(json, key, milli);
}

static void write_share(const struct overview_share *share, struct json_writer *json)
{
    const struct queue_resource *gpu = &share->queue->gpu;
    json_begin_object(json);
    json_text(json, "name", share->queue->node_pool_name);
    write_limit(json, "quota", gpu->deserved);
    write_limit(json, "limit", gpu->limit);
    json_milli(json, "held", gpu->allocated);
    json_milli(json, "nonPreemptible", gpu->allocated_non_preemptible);
    json_milli(json, "fairShare", gpu->fair_share);
    json_milli(json, "waiting", share->waiting);
    json_milli(json, "owed", share->owed);
    json_milli(json, "refused", share->refused);
    json_end_object(json);
}

void overview_write_projects(const struct overview_shares *shares, struct json_writer *json)
{
    char id[24];
    json_key(json, "projects");
    json_begin_array(json);
    for (size_t i = 0; i < shares->project_count; i++) {
        const struct org_unit *project = &shares->projects[i];
        const struct overview_share *pools = shares_of(shares, project);
        json_begin_object(json);
        snprintf(id, sizeof(id), "%" PRId64, project->id);
        json_text(json, "id", id);
        json_text(json, "name", project->name);
        snprintf(id, sizeof(id), "%" PRId64, project->department_id);
        json_text(json, "departmentId", id);
        json_text(json, "departmentName", project->department_name);
        json_key(json, "nodePools");
        json_begin_array(json);
        for (size_t q = 0; q < project->queue_count; q++)
            write_share(&pools[q], json);
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
}
