// Who waits, and what projects hold of what they are owed: exact however many wait.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/organisation/organisation.h"
#include "api/organisation/overview.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/quantity.h"
#include "db/db.h"
#include "db/org_units.h"
#include "db/queues.h"

#include <inttypes.h>
#include <string.h>

enum {
    COLUMN_PROJECT,
    COLUMN_NODE_POOL,
    COLUMN_IS_REFUSED,
    COLUMN_COUNT,
    COLUMN_GPUS,
};

// From the index workloads_by_state alone. The node pool is the first that the workload asks for, else its project's,
// which is looked for once a group, or the one that every cluster has.
static const struct list_source WAITING_LIST = {
    .columns = "w.project_id, coalesce(w.node_pools_json ->> '$[0]', " PROJECT_NODE_POOLS " ->> '$[0]', 'default'), "
               "w.phase_reason <> '', count(*), sum(w.gpu_requested_milli)",
    .from = "projects p JOIN departments d ON d.id = p.department_id CROSS JOIN workloads w ON w.project_id = p.id",
    .where = "w.deleted_ms = 0 AND w.phase = 'Pending'",
    .group = "w.project_id, w.node_pools_json ->> '$[0]', w.phase_reason <> ''",
    .id = "w.project_id",
    .order = "NULL",
};

void overview_add_scope(const struct request *req, struct list_query *query)
{
    const char *department_id = request_query(req, "departmentId"), *project_id = request_query(req, "projectId");
    if (department_id)
        list_query_where_int(query, "p.department_id = ?", id_from_text(department_id));
    if (project_id)
        list_query_where_int(query, "p.id = ?", id_from_text(project_id));
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
    shares.by_id = db_units_by_id(shares.projects, shares.project_count, req->arena);
    shares.shares = arena_array(req->arena, shares.project_count, sizeof(struct overview_share *));
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
    return shares->shares[db_find_unit(shares->by_id, shares->project_count, project->id) - shares->by_id];
}

struct overview_share *overview_find_share(const struct overview_shares *shares, int64_t project_id,
                                           const char *node_pool)
{
    struct org_unit **found = db_find_unit(shares->by_id, shares->project_count, project_id);
    for (size_t q = 0; found && q < (*found)->queue_count; q++)
        if (strcmp((*found)->queues[q].node_pool_name, node_pool) == 0)
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

void overview_reckon_shares(struct overview_shares *shares)
{
    for (size_t i = 0; i < shares->project_count; i++)
        for (size_t q = 0; q < shares->by_id[i]->queue_count; q++)
            reckon(&shares->shares[i][q]);
}

int overview_read_waiting(struct request *req, struct db_conn *conn, struct overview_shares *shares,
                          struct overview_waiting *out_waiting, struct error *err)
{
    struct list_query query;
    struct scope_filter filter;
    struct overview_waiting waiting = {0};
    if (list_query_init(&query, &WAITING_LIST, req, err) < 0)
        return -1;
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &filter);
    list_query_where_scope(&query, &filter, "p.cluster_id", "p.department_id", "p.id");
    overview_add_scope(req, &query);
    list_query_take_all(&query);
    int rc = list_query_open(&query, conn, err);
    while (rc >= 0 && (rc = list_query_step(&query, err)) == 1) {
        int64_t gpu_milli = db_column_int(query.stmt, COLUMN_GPUS);
        struct overview_share *share = overview_find_share(shares, db_column_int(query.stmt, COLUMN_PROJECT),
                                                           db_column_text(query.stmt, COLUMN_NODE_POOL, req->arena));
        if (share && db_column_int(query.stmt, COLUMN_IS_REFUSED))
            share->refused += gpu_milli;
        waiting.count += db_column_int(query.stmt, COLUMN_COUNT);
        waiting.gpu_milli += gpu_milli;
    }
    list_query_close(&query);
    overview_reckon_shares(shares);
    for (size_t i = 0; i < shares->project_count; i++)
        for (size_t q = 0; q < shares->by_id[i]->queue_count; q++) {
            waiting.owed_milli += shares->shares[i][q].owed;
            waiting.refused_milli += shares->shares[i][q].refused;
        }
    *out_waiting = waiting;
    return rc;
}

void overview_write_waiting(const struct overview_waiting *waiting, struct json_writer *json)
{
    json_key(json, "waiting");
    json_begin_object(json);
    json_int(json, "count", waiting->count);
    json_milli(json, "gpus", waiting->gpu_milli);
    json_milli(json, "gpusOwed", waiting->owed_milli);
    json_milli(json, "gpusRefused", waiting->refused_milli);
    json_end_object(json);
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
        int64_t cpu_milli = 0, memory_bytes = 0;
        for (size_t q = 0; q < project->queue_count; q++) {
            write_share(&pools[q], json);
            cpu_milli += project->queues[q].cpu.allocated;
            memory_bytes += project->queues[q].memory.allocated;
        }
        json_end_array(json);
        json_milli(json, "cpuCoresAllocated", cpu_milli);
        json_int(json, "cpuMemoryAllocatedBytes", memory_bytes);
        json_end_object(json);
    }
    json_end_array(json);
}
